import { A2AError, type AgentExtension } from "../protocol/index.ts";
import type { ProtocolVersion } from "../wire/index.ts";

/**
 * Header (and gRPC metadata key) that lists the extensions of each version. 0.3 requests may also use the 1.0
 * header.
 */
const EXTENSIONS_HEADERS: Readonly<Record<ProtocolVersion, string>> = {
  "1.0": "a2a-extensions",
  "0.3": "x-a2a-extensions",
};
const NO_EXTENSIONS: readonly string[] = [];

/** Access to request headers by lower-case name. */
interface HeaderReader {
  header(name: string): string | undefined;
}

/**
 * Returns the extensions that are active for a request (A2A §4.6.3): the URIs that the card declares and the
 * request lists. A different version of an extension has a different URI, and is ignored like any unknown
 * URI. Throws EXTENSION_SUPPORT_REQUIRED when the request does not list an extension that the card requires.
 */
export function activateExtensions(
  declared: readonly AgentExtension[] | undefined,
  request: HeaderReader,
  version: ProtocolVersion,
): readonly string[] {
  if (!declared || declared.length === 0) return NO_EXTENSIONS;
  const requested = parseRequestedExtensions(request, version);
  const missing = declared.filter(({ uri, required }) => required && !requested.has(uri));
  if (missing.length > 0) throw createExtensionRequiredError(missing, version);
  const known = new Set(declared.map(({ uri }) => uri));
  return [...requested].filter((uri) => known.has(uri));
}

/** Returns the response header that lists the active extensions. */
export function buildExtensionHeaders(
  activated: readonly string[],
  version: ProtocolVersion,
): Record<string, string> {
  return { [EXTENSIONS_HEADERS[version]]: activated.join(", ") };
}

/** Returns the URIs that a request lists, without duplicates. URIs are case-sensitive. */
function parseRequestedExtensions(request: HeaderReader, version: ProtocolVersion): Set<string> {
  const versionHeader = request.header(EXTENSIONS_HEADERS[version]) ?? "";
  const v1Header = version === "0.3" ? (request.header(EXTENSIONS_HEADERS["1.0"]) ?? "") : "";
  const uris = `${versionHeader},${v1Header}`.split(",").map((uri) => uri.trim());
  return new Set(uris.filter((uri) => uri !== ""));
}

function createExtensionRequiredError(
  missing: readonly AgentExtension[],
  version: ProtocolVersion,
): A2AError {
  const uris = missing.map(({ uri }) => uri).join(", ");
  const [noun, pronoun] = missing.length === 1 ? ["an extension", "it"] : ["extensions", "them"];
  const text = `This agent requires ${noun} that the request does not list; if the client supports ${pronoun}, send "${EXTENSIONS_HEADERS[version]}: ${uris}".`;
  return new A2AError("EXTENSION_SUPPORT_REQUIRED", text, { metadata: { extensions: uris } });
}
