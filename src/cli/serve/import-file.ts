import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Node.js error codes for modules that require a transpiler. */
const TRANSPILER_REQUIRED_ERROR_CODES = new Set([
  "ERR_UNKNOWN_FILE_EXTENSION",
  "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX",
  "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING",
  "ERR_UNSUPPORTED_DIR_IMPORT",
  "ERR_MODULE_NOT_FOUND",
]);

/**
 * Imports a user's module with Node's type stripping. If Node cannot load the module, the function uses jiti.
 * The package `jiti` also loads enums, parameter properties, imports without extension, and packages without
 * ES modules.
 */
export async function importFile(file: string): Promise<Record<string, unknown>> {
  if (!file.endsWith(".ts") || isInEsModulePackage(file)) {
    try {
      return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    } catch (error) {
      // The transpiler would evaluate the other modules before the import fails again.
      if (!isTranspilerNeededError(error) || isMissingFileError(error)) throw error;
    }
  }
  const { createJiti } = await import("jiti");
  return await createJiti(import.meta.url).import<Record<string, unknown>>(file);
}

function isTranspilerNeededError(error: unknown): boolean {
  return error instanceof Error && "code" in error && TRANSPILER_REQUIRED_ERROR_CODES.has(String(error.code));
}

/**
 * Returns whether Node.js misses a file that does not exist with another extension either. The transpiler finds
 * `word.ts` for imports of `word` and `word.js`.
 */
function isMissingFileError(error: unknown): boolean {
  if (!(error instanceof Error) || !("url" in error) || typeof error.url !== "string") return false;
  try {
    const file = fileURLToPath(error.url);
    const name = basename(file, extname(file));
    return !readdirSync(dirname(file)).some((entry) => entry === name || entry.startsWith(`${name}.`));
  } catch {
    return true;
  }
}

/**
 * Returns whether the nearest package.json declares an ES module package. In packages without ES modules,
 * Node rejects `import` statements or loads the file with a warning.
 */
function isInEsModulePackage(file: string): boolean {
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    try {
      const { type } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { type?: string };
      return type === "module";
    } catch {
      if (directory === dirname(directory)) return true;
    }
  }
}
