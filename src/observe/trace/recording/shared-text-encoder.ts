import { createHash } from "node:crypto";
import { TEXT_HASH_LENGTH, TEXT_LINE_START } from "../shared-text-decoder.ts";

/** Length of a JSON string from which a record stores the string once. A reference has 36 characters. */
const MIN_SHARED_LENGTH = 160;
/** Maximum number of hashes that a writer remembers. A text whose hash is forgotten is stored again. */
const MAX_STORED_TEXTS = 100_000;
/** The strings of a JSON text in their order. The second group matches a member name. */
const JSON_STRINGS = /"(?:[^"\\]|\\.)*"(:)?/g;

/**
 * Stores each long text of a record once. A line of the kind `text` contains the text and its hash. Other lines contain
 * `{"$text":"HASH"}` instead of the text. Prompts and questions, which a run repeats in many lines, then take little
 * space.
 */
export class SharedTextEncoder {
  readonly #stored = new Set<string>();

  /** Returns the lines to store for a line: the texts that the record does not contain yet, and the shortened line. */
  encode(line: string): string {
    let texts = "";
    const shortened = line.replaceAll(JSON_STRINGS, (literal, colon: string | undefined) => {
      if (colon !== undefined || literal.length < MIN_SHARED_LENGTH) return literal;
      const hash = createHash("sha256").update(literal).digest("hex").slice(0, TEXT_HASH_LENGTH);
      if (!this.#stored.has(hash)) {
        texts += `${TEXT_LINE_START}${hash}","text":${literal}}\n`;
        if (this.#stored.size >= MAX_STORED_TEXTS) this.#stored.clear();
        this.#stored.add(hash);
      }
      return `{"$text":"${hash}"}`;
    });
    return `${texts}${shortened}`;
  }
}
