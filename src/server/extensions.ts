import { A2AError, type AgentExtension } from "../protocol/index.ts";
import type { ProtocolVersion } from "../wire/index.ts";

/** The header, and the metadata of gRPC, in which each version lists extensions; 0.3 is also asked in the newer spelling. */
const EXTENSIONS_HEADERS: Readonly<Record<ProtocolVersion, string>> = {
  "1.0": "a2a-extensions",
  "0.3": "x-a2a-extensions",
};
const NO_EXTENSIONS: readonly string[] = [];

/** Headers of a request, by their lower-case names. */
interface HeaderReader {
  header(name: string): string | undefined;
}

/**
 * The extensions that are active for a request (A2A §4.6.3): those that the card declares among those that the request
 * asks for, URI by URI. Another version of an extension is another URI, so it is ignored like one that nobody knows.
 * Throws EXTENSION_SUPPORT_REQUIRED when the card requires one that the request does not ask for.
 */
export function activateExtensions(
  declared: readonly AgentExtension[] | undefined,
  request: HeaderReader,
  version: ProtocolVersion,
): readonly string[] {
  if (!declared || declared.length === 0) return NO_EXTENSIONS;
  const asked = parseRequestedExtensions(request, version);
  const missing = declared.filter(({ uri, required }) => required && !asked.has(uri));
  if (missing.length > 0) throw createExtensionRequiredError(missing, version);
  const known = new Set(declared.map(({ uri }) => uri));
  return [...asked].filter((uri) => known.has(uri));
}

/** What the answer says of active extensions; nothing when there are none. */
export function buildExtensionHeaders(
  activated: readonly string[] | undefined,
  version: ProtocolVersion,
): Record<string, string> {
  return activated && activated.length > 0 ? { [EXTENSIONS_HEADERS[version]]: activated.join(", ") } : {};
}

/** The URIs that a request lists, each once; they are case-sensitive. */
function parseRequestedExtensions(request: HeaderReader, version: ProtocolVersion): Set<string> {
  const own = request.header(EXTENSIONS_HEADERS[version]) ?? "";
  const newer = version === "0.3" ? (request.header(EXTENSIONS_HEADERS["1.0"]) ?? "") : "";
  const uris = `${own},${newer}`.split(",").map((uri) => uri.trim());
  return new Set(uris.filter((uri) => uri !== ""));
}

function createExtensionRequiredError(
  missing: readonly AgentExtension[],
  version: ProtocolVersion,
): A2AError {
  const uris = missing.map(({ uri }) => uri).join(", ");
  const what = missing.length === 1 ? "an extension" : "extensions";
  const text = `This agent requires ${what} that the request does not declare; if you support ${missing.length === 1 ? "it" : "them"}, send "${EXTENSIONS_HEADERS[version]}: ${uris}".`;
  return new A2AError("EXTENSION_SUPPORT_REQUIRED", text, { metadata: { extensions: uris } });
}
