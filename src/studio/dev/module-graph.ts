/**
 * The imports between the files of a program, and a version for each file. A file gets a new version when the file, or
 * a file that it imports, has changed.
 */
export class ModuleGraph {
  readonly #importersByFile = new Map<string, Set<string>>();
  readonly #versions = new Map<string, number>();
  /** Versions of the files that were part of a successful import. */
  readonly #evaluatedVersions = new Map<string, number>();

  /** Records that a file was imported. `importer` is `undefined` if the importer is not part of the program. */
  addImport(importer: string | undefined, file: string): void {
    const importers = this.#importersByFile.get(file) ?? new Set();
    this.#importersByFile.set(file, importers);
    if (importer !== undefined) importers.add(importer);
  }

  /** Returns the version of a file, which starts at 0. */
  getVersion(file: string): number {
    return this.#versions.get(file) ?? 0;
  }

  /** Returns all imported files. */
  listFiles(): string[] {
    return [...this.#importersByFile.keys()];
  }

  /** Returns a file and all files that it imports, directly or indirectly. */
  listImportedFiles(file: string): Set<string> {
    return collectReachable([file], (importer) =>
      this.listFiles().filter((imported) => this.#importersByFile.get(imported)?.has(importer)),
    );
  }

  /** Records that the import of a file has succeeded, so that the file and its imports are evaluated. */
  markEvaluated(file: string): void {
    for (const evaluated of this.listImportedFiles(file))
      this.#evaluatedVersions.set(evaluated, this.getVersion(evaluated));
  }

  /**
   * Returns the files that a file imports, and the file itself, without files whose current version is evaluated. After
   * a failed import of the file, Node.js may have cached the failure for these files only.
   */
  listUnevaluatedFiles(file: string): string[] {
    return [...this.listImportedFiles(file)].filter(
      (imported) => this.#evaluatedVersions.get(imported) !== this.getVersion(imported),
    );
  }

  /**
   * Increments the versions of the changed files, and of all files that import them. Returns these files. Forgets their
   * imports, because the next versions may import other files.
   */
  invalidateFiles(changed: Iterable<string>): Set<string> {
    const affected = collectReachable(changed, (file) => this.#importersByFile.get(file) ?? []);
    for (const file of affected) this.#versions.set(file, this.getVersion(file) + 1);
    for (const importers of this.#importersByFile.values())
      for (const file of affected) importers.delete(file);
    return affected;
  }
}

/** Returns the start values, and all values that `findNext` reaches from them. */
function collectReachable(
  start: Iterable<string>,
  findNext: (value: string) => Iterable<string>,
): Set<string> {
  const reached = new Set(start);
  // A set also iterates over the values that are added during the iteration.
  for (const value of reached) for (const next of findNext(value)) reached.add(next);
  return reached;
}
