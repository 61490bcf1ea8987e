import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** Node.js error codes for modules that require a transpiler. */
const TRANSPILER_REQUIRED_ERROR_CODES = new Set([
  "ERR_UNKNOWN_FILE_EXTENSION",
  "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX",
  "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING",
  "ERR_UNSUPPORTED_DIR_IMPORT",
  "ERR_MODULE_NOT_FOUND",
]);

export interface ImportFileOptions {
  /** Whether jiti imports the file even if Node could. Default: false. */
  readonly alwaysTranspile?: boolean;
}

/**
 * Imports a user's module with Node's type stripping. If Node cannot load the module, the function uses jiti.
 * The package `jiti` also loads enums, parameter properties, imports without extension, and packages without
 * ES modules. `jiti` also supports older Node versions.
 */
export async function importFile(
  file: string,
  { alwaysTranspile = false }: ImportFileOptions = {},
): Promise<Record<string, unknown>> {
  if (!alwaysTranspile && (!file.endsWith(".ts") || isInEsModulePackage(file))) {
    try {
      return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    } catch (error) {
      if (!isTranspilerNeededError(error)) throw error;
    }
  }
  const { createJiti } = await import("jiti");
  return await createJiti(import.meta.url).import<Record<string, unknown>>(file);
}

function isTranspilerNeededError(error: unknown): boolean {
  return error instanceof Error && "code" in error && TRANSPILER_REQUIRED_ERROR_CODES.has(String(error.code));
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
