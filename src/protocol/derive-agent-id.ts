import { stripTrailingCharacters } from "./host-and-port.ts";

const AGENT_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}$/;

/** Returns whether a text can be an agent id, which is one segment of a URL path. */
export function isAgentId(text: string): boolean {
  return AGENT_ID_PATTERN.test(text);
}

/**
 * Returns the agent id for an agent's name. A name that is valid in a URL is its own id. For other names, the
 * id has lowercase ASCII letters and digits, such as `weather-agent` for `Weather agent`. If a name has no
 * such characters, the id is a hash of the name. The same name always has the same id.
 */
export function deriveAgentId(name: string): string {
  if (isAgentId(name)) return name;
  const slug = stripTrailingCharacters(
    name
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .toLowerCase()
      .replaceAll(/[^a-z0-9._~]+/g, "-")
      .replace(/^[^a-z0-9]+/, ""),
    "-",
  ).slice(0, 100);
  return slug || `agent-${formatFnv1aHash(name)}`;
}

/** Returns the 32-bit FNV-1a hash of the UTF-16 code units of a text, as eight hexadecimal digits. */
function formatFnv1aHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
