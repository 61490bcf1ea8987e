/** A file that does not parse. */
export interface FileSyntaxError {
  readonly file: string;
  readonly error: Error;
}

/**
 * The changed files that do not parse, such as files that an editor has half written. The agents that import such a file
 * are not imported until the file is correct, so that no module is evaluated in vain.
 */
export class SyntaxGate {
  readonly #findSyntaxError: (file: string) => Error | undefined;
  /** The files that do not parse, by the agent files that import them. */
  #errorsByAgentFile = new Map<string, readonly FileSyntaxError[]>();

  /** `findSyntaxError` parses a file. */
  constructor(findSyntaxError: (file: string) => Error | undefined) {
    this.#findSyntaxError = findSyntaxError;
  }

  /**
   * Parses the changed files, and the files that did not parse before. Returns the files that may be imported again. A
   * file that no agent file imports is one of them, because its import reports the error.
   */
  admitFiles(
    changed: Iterable<string>,
    agentFiles: Iterable<string>,
    listImportedFiles: (file: string) => Iterable<string>,
  ): string[] {
    const files = new Set([...changed, ...this.#listHeldFiles()]);
    const errors = [...files].flatMap((file) => {
      const error = this.#findSyntaxError(file);
      return error ? [{ file, error }] : [];
    });
    const earlier = this.#errorsByAgentFile;
    this.#errorsByAgentFile = new Map();
    for (const agentFile of agentFiles) {
      // The module graph forgets the imports of a file that has changed, until the file is imported again.
      const earlierFiles = (earlier.get(agentFile) ?? []).map(({ file }) => file);
      const imported = new Set([...earlierFiles, ...listImportedFiles(agentFile)]);
      const own = errors.filter(({ file }) => imported.has(file));
      if (own.length > 0) this.#errorsByAgentFile.set(agentFile, own);
    }
    const held = new Set(this.#listHeldFiles());
    return [...files].filter((file) => !held.has(file));
  }

  /** Returns a file that does not parse, and because of which an agent file must not be imported. */
  findError(agentFile: string): FileSyntaxError | undefined {
    return this.#errorsByAgentFile.get(agentFile)?.[0];
  }

  #listHeldFiles(): string[] {
    return [...this.#errorsByAgentFile.values()].flatMap((errors) => errors.map(({ file }) => file));
  }
}
