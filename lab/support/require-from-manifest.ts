import { createRequire } from "node:module";
import { join } from "node:path";
import { installManifest } from "./install-manifest.ts";

/**
 * Returns the module of a package that a separate `package.json` lists. Installs the packages of that file on first use.
 * The caller declares the parts of the module that it uses, because the types are not installed when the compiler runs.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller declares the type of the module.
export function requireFromManifest<M>(name: string, manifestFolder: string, specifier: string): M {
  const folder = installManifest(name, manifestFolder);
  return createRequire(join(folder, "package.json"))(specifier) as M;
}
