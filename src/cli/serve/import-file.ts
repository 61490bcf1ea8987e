import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** What Node says of TypeScript (or of imports as TypeScript writes them) that only a transpiler can load. */
const TRANSPILER_ERROR_CODES = new Set([
  "ERR_UNKNOWN_FILE_EXTENSION",
  "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX",
  "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING",
  "ERR_UNSUPPORTED_DIR_IMPORT",
  "ERR_MODULE_NOT_FOUND",
]);

/**
 * Imports a user's module. Node strips types itself where it can; a file that needs more (enums, parameter properties,
 * imports without extension, a package that is not of modules, an older Node) is loaded through jiti.
 */
export async function importFile(file: string): Promise<Record<string, unknown>> {
  if (!file.endsWith(".ts") || isInModulePackage(file)) {
    try {
      return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    } catch (error) {
      if (!needsTranspiler(error)) throw error;
    }
  }
  const { createJiti } = await import("jiti");
  return await createJiti(import.meta.url).import<Record<string, unknown>>(file);
}

function needsTranspiler(error: unknown): boolean {
  return error instanceof Error && "code" in error && TRANSPILER_ERROR_CODES.has(String(error.code));
}

/** In other packages (`npm init` makes them) Node takes `import` for a mistake, or guesses right and complains. */
function isInModulePackage(file: string): boolean {
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    try {
      const { type } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { type?: string };
      return type === "module";
    } catch {
      if (directory === dirname(directory)) return true;
    }
  }
}
