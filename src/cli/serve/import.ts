import { pathToFileURL } from "node:url";

/** What Node says of TypeScript (or of imports as TypeScript writes them) that only a transpiler can load. */
const NEEDS_TRANSPILER = new Set([
  "ERR_UNKNOWN_FILE_EXTENSION",
  "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX",
  "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING",
  "ERR_UNSUPPORTED_DIR_IMPORT",
  "ERR_MODULE_NOT_FOUND",
]);

/**
 * Imports a user's module. Node strips types itself where it can; a file that needs more (enums, parameter properties,
 * imports without extension, an older Node) is loaded through jiti.
 */
export async function importFile(file: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    if (!needsTranspiler(error)) throw error;
    const { createJiti } = await import("jiti");
    return await createJiti(import.meta.url).import<Record<string, unknown>>(file);
  }
}

function needsTranspiler(error: unknown): boolean {
  return error instanceof Error && "code" in error && NEEDS_TRANSPILER.has(String(error.code));
}
