/**
 * The `text` format (a2a-cli SPEC §11.2): one `Label: value` field per line, and blocks for what does not fit on a
 * line: the label's line, the content, a blank line. A block may grow while an artifact is streamed.
 */
export class TextWriter {
  readonly #write: (text: string) => void;
  /** The block that is open, and whether it ends with a newline. */
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

  /** Adds to the block of `key`, opening it when another (or none) is open. */
  appendToBlock(label: string, value: string, key: string, content: string): void {
    if (this.#openBlock?.key !== key) {
      this.writeField(label, value);
      this.#openBlock = { key, atLineStart: true };
    }
    if (content === "") return;
    this.#write(escapeControlCharacters(content));
    (this.#openBlock as { atLineStart: boolean }).atLineStart = content.endsWith("\n");
  }

  /** Ends the block that is open, if any. */
  closeBlock(): void {
    if (!this.#openBlock) return;
    this.#write(this.#openBlock.atLineStart ? "\n" : "\n\n");
    this.#openBlock = undefined;
  }

  /** Separates entries of a list. */
  writeBlankLine(): void {
    this.closeBlock();
    this.#write("\n");
  }
}

/**
 * A value as JSON for a terminal or a program: JSON leaves some of what `escapeControlCharacters` shows as it is, so it is escaped here. It is
 * the same value when it is read.
 */
export function renderJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return text.replaceAll(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * What an agent says is printed to somebody's terminal: control characters, with which it could rewrite the screen,
 * and those that turn the order of what is read around become visible instead.
 */
export function escapeControlCharacters(text: string): string {
  return (
    text
      .replaceAll("\r\n", "\n")
      // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
      .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (control) =>
        control < "\u0020" ? String.fromCharCode(0x2400 + control.charCodeAt(0)) : "\ufffd",
      )
  );
}

function toOneLine(text: string): string {
  return escapeControlCharacters(text.replaceAll(/\s+/g, " ").trim());
}
