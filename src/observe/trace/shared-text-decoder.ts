/** First characters of a line that contains a text of later lines. */
export const TEXT_LINE_START = '{"v":1,"kind":"text","hash":"';
export const TEXT_HASH_LENGTH = 24;
const REFERENCES = /\{"\$text":"([0-9a-f]{24})"\}/g;

/** Restores the long texts that `SharedTextEncoder` stores once. */
export class SharedTextDecoder {
  readonly #literals = new Map<string, string>();

  /** Returns a line with its long texts, or `undefined` for a line that contains a text of later lines. */
  decode(line: string): string | undefined {
    if (line.startsWith(TEXT_LINE_START)) {
      const end = TEXT_LINE_START.length + TEXT_HASH_LENGTH;
      this.#literals.set(line.slice(TEXT_LINE_START.length, end), line.slice(end + '","text":'.length, -1));
      return undefined;
    }
    if (!line.includes('{"$text":"')) return line;
    return line.replaceAll(REFERENCES, (reference, hash: string) => this.#literals.get(hash) ?? reference);
  }
}
