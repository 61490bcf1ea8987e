/**
 * Writer for the `text` format (a2a-cli SPEC §11.2). The writer writes a `Label: value` line for each field
 * and a text block for multi-line content. A text block consists of a label line, the content, and a blank
 * line. A text block can grow while the agent streams an artifact.
 */
export class TextWriter {
  readonly #write: (text: string) => void;
  /** The open text block, with a flag that is true if the content ends with a newline. */
  #openBlock: { key: string; atLineStart: boolean } | undefined;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  writeField(label: string, value: string | number): void {
    this.closeBlock();
    this.#write(`${label}: ${toOneLine(String(value))}\n`);
  }

  writeBlock(label: string, value: string, content: string): void {
    this.closeBlock();
    this.appendToBlock(label, value, "", content);
    this.closeBlock();
  }

  /**
   * Appends content to the text block with the given key. If another text block is open, the writer first
   * closes that block.
   */
  appendToBlock(label: string, value: string, key: string, content: string): void {
    if (this.#openBlock?.key !== key) {
      this.writeField(label, value);
      this.#openBlock = { key, atLineStart: true };
    }
    if (content === "") return;
    this.#write(content);
    (this.#openBlock as { atLineStart: boolean }).atLineStart = content.endsWith("\n");
  }

  /** Ends the open text block, if any. */
  closeBlock(): void {
    if (!this.#openBlock) return;
    this.#write(this.#openBlock.atLineStart ? "\n" : "\n\n");
    this.#openBlock = undefined;
  }

  /** Writes a blank line between the entries of a list. */
  writeBlankLine(): void {
    this.closeBlock();
    this.#write("\n");
  }
}

/**
 * Renders a value as JSON without control characters, so that terminals can display it safely. The function
 * also escapes control characters that `JSON.stringify` leaves unchanged.
 */
export function renderJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return text.replaceAll(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function toOneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
