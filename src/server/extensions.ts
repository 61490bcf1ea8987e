import { A2AError, type AgentExtension } from "../protocol/index.ts";
import type { ProtocolVersion } from "../wire/index.ts";

/**
 * Name of the HTTP header and gRPC metadata key for the requested extensions, by A2A version. A2A 0.3
 * requests can also use the header of A2A 1.0.
 */
const EXTENSIONS_HEADER_BY_VERSION: Readonly<Record<ProtocolVersion, string>> = {
  "1.0": "a2a-extensions",
  "0.3": "x-a2a-extensions",
};
const NO_EXTENSIONS: readonly string[] = [];
const NO_REQUESTED_EXTENSIONS: ReadonlySet<string> = new Set();

interface HeaderReader {
  header(name: string): string | undefined;
}

/**
 * Returns the URIs of the active extensions. An extension is active if both the agent card and the request
 * list the extension (A2A §4.6.3). Each version of an extension has a different URI. Throws
 * EXTENSION_SUPPORT_REQUIRED if the request does not list an extension that the agent card requires.
 */
export function activateExtensions(
  declared: readonly AgentExtension[] | undefined,
  request: HeaderReader,
  version: ProtocolVersion,
): readonly string[] {
  if (!declared || declared.length === 0) return NO_EXTENSIONS;
  const requested = parseRequestedExtensions(request, version);
  const missing = getRequiredExtensions(declared).filter(({ uri }) => !requested.has(uri));
  if (missing.length > 0) throw createExtensionRequiredError(missing, version);
  if (requested.size === 0) return NO_EXTENSIONS;
  const known = new Set(declared.map(({ uri }) => uri));
  return [...requested].filter((uri) => known.has(uri));
}

const requiredByDeclared = new WeakMap<readonly AgentExtension[], readonly AgentExtension[]>();

/** Returns the required extensions of a card, which are needed for each request, and which most cards do not have. */
function getRequiredExtensions(declared: readonly AgentExtension[]): readonly AgentExtension[] {
  let required = requiredByDeclared.get(declared);
  if (!required)
    requiredByDeclared.set(declared, (required = declared.filter((extension) => extension.required)));
  return required;
}

export function buildExtensionHeaders(
  activated: readonly string[],
  version: ProtocolVersion,
): Record<string, string> {
  return { [EXTENSIONS_HEADER_BY_VERSION[version]]: activated.join(", ") };
}

function parseRequestedExtensions(request: HeaderReader, version: ProtocolVersion): ReadonlySet<string> {
  const versionHeader = request.header(EXTENSIONS_HEADER_BY_VERSION[version]) ?? "";
  const v1Header = version === "0.3" ? (request.header(EXTENSIONS_HEADER_BY_VERSION["1.0"]) ?? "") : "";
  if (versionHeader === "" && v1Header === "") return NO_REQUESTED_EXTENSIONS;
  const uris = `${versionHeader},${v1Header}`.split(",").map((uri) => uri.trim());
  return new Set(uris.filter((uri) => uri !== ""));
}

function createExtensionRequiredError(
  missing: readonly AgentExtension[],
  version: ProtocolVersion,
): A2AError {
  const uris = missing.map(({ uri }) => uri).join(", ");
  const [noun, pronoun] = missing.length === 1 ? ["an extension", "it"] : ["extensions", "them"];
  const text = `This agent requires ${noun} that the request does not list; if the client supports ${pronoun}, send "${EXTENSIONS_HEADER_BY_VERSION[version]}: ${uris}".`;
  return new A2AError("EXTENSION_SUPPORT_REQUIRED", text, { metadata: { extensions: uris } });
}
