/** Characters that PostgreSQL cannot store as text, and the character that begins an escape. */
// oxlint-disable-next-line no-control-regex -- the characters that PostgreSQL cannot store
const UNSTORABLE_CHARACTERS = /[\0\u0001]|\p{Surrogate}/gu;
/** Matches every text that contains unstorable characters, and is faster. */
// oxlint-disable-next-line no-control-regex -- the characters that PostgreSQL cannot store
const SUSPECT_CHARACTERS = /[\0\u0001\ud800-\udfff]/;
// oxlint-disable-next-line no-control-regex -- the character that begins an escape
const ESCAPE_SEQUENCES = /\u0001([0-9a-f]{4})/g;

/**
 * Encodes an id from a caller as text that PostgreSQL can store. PostgreSQL rejects NUL characters, and UTF-8 has no
 * code for one half of a surrogate pair. Different ids have different encodings.
 */
export function encodeIdentifier(id: string): string {
  if (!SUSPECT_CHARACTERS.test(id)) return id;
  return id.replace(UNSTORABLE_CHARACTERS, (character) => `\u0001${formatCodeUnit(character)}`);
}

export function decodeIdentifier(encoded: string): string {
  return encoded.includes("\u0001")
    ? encoded.replace(ESCAPE_SEQUENCES, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : encoded;
}

function formatCodeUnit(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}
