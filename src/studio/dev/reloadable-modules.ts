import { createRequire, registerHooks } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { OWN_CODE_URL } from "./own-code-url.ts";
import { ModuleGraph } from "./module-graph.ts";

/** Query parameter that makes Node.js import a changed file again. */
export const RELOAD_QUERY_NAME = "colloquy-reload";

/** The folder of Colloquy's own code, whose modules must not be loaded twice. */
const OWN_CODE_DIRECTORY = fileURLToPath(OWN_CODE_URL);

const requireCache = createRequire(import.meta.url).cache;

/**
 * The modules of a program that can be imported again after a change. Packages in `node_modules` are never imported
 * again. Unchanged modules keep their state. Node.js cannot unload a module, so each reload leaves the earlier version
 * in memory.
 *
 * For files that need a transpiler, jiti loads the modules into the cache of CommonJS, and a change reloads all of them.
 */
export class ReloadableModules {
  readonly #graph = new ModuleGraph();
  readonly #unregister: () => void;

  constructor() {
    const hooks = registerHooks({
      resolve: (specifier, context, nextResolve) => {
        const importer = toReloadableFile(context.parentURL);
        const resolved = this.#resolveOrRecordMissing(importer, specifier, () =>
          nextResolve(specifier, context),
        );
        const file = toReloadableFile(resolved.url);
        if (file === undefined) return resolved;
        this.#graph.addImport(importer, file);
        const version = this.#graph.getVersion(file);
        // CommonJS modules have no URL. `invalidateFiles` removes them from their cache.
        if (version === 0 || !context.conditions.includes("import")) return resolved;
        return { ...resolved, url: addReloadQuery(resolved.url, version) };
      },
    });
    this.#unregister = (): void => hooks.deregister();
  }

  /** A file that is missing is part of the graph, so that its creation is a change. */
  #resolveOrRecordMissing<T>(importer: string | undefined, specifier: string, resolve: () => T): T {
    try {
      return resolve();
    } catch (error) {
      if (importer !== undefined && /^\.\.?\//.test(specifier))
        this.#graph.addImport(importer, join(dirname(importer), specifier));
      throw error;
    }
  }

  /** Returns all files that the program has imported, or has tried to import. */
  listFiles(): string[] {
    return [...new Set([...this.#graph.listFiles(), ...listCommonJsFiles()])];
  }

  /** Returns the files that a file imports, directly or indirectly, and the file itself. */
  listImportedFiles(file: string): Set<string> {
    const files = this.#graph.listImportedFiles(file);
    return isCommonJsFile(file) ? new Set([...files, ...listCommonJsFiles()]) : files;
  }

  /** Records that the import of a file has succeeded. */
  markEvaluated(file: string): void {
    this.#graph.markEvaluated(file);
  }

  /**
   * Returns the files of a failed import that have to be evaluated again. Modules that an earlier import has evaluated
   * keep their state.
   */
  listUnevaluatedFiles(file: string): Iterable<string> {
    return isCommonJsFile(file) ? this.listImportedFiles(file) : this.#graph.listUnevaluatedFiles(file);
  }

  /**
   * Makes the next import of the changed files, and of all files that import them, evaluate the files again. Returns
   * these files.
   */
  invalidateFiles(changed: Iterable<string>): Set<string> {
    const files = new Set(changed);
    // The imports between CommonJS modules are unknown.
    if ([...files].some(isCommonJsFile)) for (const file of listCommonJsFiles()) files.add(file);
    const affected = this.#graph.invalidateFiles(files);
    for (const file of affected) delete requireCache[file];
    return affected;
  }

  /** Stops to record imports. */
  close(): void {
    this.#unregister();
  }
}

function listCommonJsFiles(): string[] {
  return Object.keys(requireCache).filter(isReloadableFile);
}

function isCommonJsFile(file: string): boolean {
  return Object.hasOwn(requireCache, file);
}

/** Returns the path of a file that may be imported again, or `undefined` for packages and for Colloquy itself. */
function toReloadableFile(url: string | undefined): string | undefined {
  if (!url?.startsWith("file:")) return undefined;
  const file = fileURLToPath(new URL(url));
  return isReloadableFile(file) ? file : undefined;
}

function isReloadableFile(file: string): boolean {
  return !file.includes(`${sep}node_modules${sep}`) && !file.startsWith(OWN_CODE_DIRECTORY);
}

function addReloadQuery(url: string, version: number): string {
  const versioned = new URL(url);
  versioned.searchParams.set(RELOAD_QUERY_NAME, String(version));
  return versioned.href;
}
