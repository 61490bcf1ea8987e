import { parseCodeBlocks } from "../../test/documents/code-blocks.ts";

/** Packages that a project installs together with Colloquy. */
export interface InstallSet {
  /** The pages and manifests that name the packages. */
  readonly sources: readonly string[];
  /** Package names, with version ranges if a manifest names them. Without `colloquy`. Sorted. */
  readonly packages: readonly string[];
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const PACKAGE_NAME_PATTERN = /^(?:@[a-z0-9-]+\/)?[a-z0-9][\w.-]*(?:@[\w.^~-]+)?$/;
const INSTALL_COMMAND_PATTERN = /\bnpm (?:i|install) ((?:\\\n|[^\n`#;&|])*)/g;
const IMPORT_PATTERN = /\b(?:from|import\() ?"((?:@[^/"]+\/)?[^/"]+)[^"]*"/g;
const REQUIRED_PACKAGES_PATTERN = /\brequires? the packages? ((?:`[^`]+`(?:,? and |, )?)+)/g;
/** Modules that a runtime contains. */
const BUILT_IN_SCOPES = ["node:", "cloudflare:", "colloquy", "."];

/** Returns the packages that a page installs, imports, or calls required. */
export function collectPackagesOfPage(page: string, markdown: string): string[] {
  const commands = [...markdown.matchAll(INSTALL_COMMAND_PATTERN)].flatMap(([, args = ""]) =>
    args.includes("--prefix") ? [] : args.split(/[\s\\]+/),
  );
  const required = [...markdown.matchAll(REQUIRED_PACKAGES_PATTERN)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  );
  const imports = parseCodeBlocks(page, markdown).flatMap(({ language, code }) =>
    ["js", "ts", "tsx"].includes(language)
      ? [...code.matchAll(IMPORT_PATTERN)].map(([, name = ""]) => name)
      : [],
  );
  const names = [...commands, ...required, ...imports].filter(
    (name) => PACKAGE_NAME_PATTERN.test(name) && !BUILT_IN_SCOPES.some((prefix) => name.startsWith(prefix)),
  );
  return [...new Set(names)].toSorted();
}

/** Returns the packages of a manifest, such as `ai@^7`. */
export function collectPackagesOfManifest({ dependencies = {}, devDependencies = {} }: Manifest): string[] {
  return Object.entries({ ...devDependencies, ...dependencies })
    .filter(([name]) => name !== "colloquy")
    .map(([name, range]) => `${name}@${range}`)
    .toSorted();
}

/**
 * Returns each different set of packages once. Each set is also combined with `@google/adk`, which depends on earlier
 * major versions of several packages.
 */
export function collectInstallSets(packagesBySource: ReadonlyMap<string, readonly string[]>): InstallSet[] {
  const sets = new Map<string, { sources: string[]; packages: readonly string[] }>();
  const add = (source: string, packages: readonly string[]): void => {
    const known = sets.get(packages.join(" "));
    if (known) known.sources.push(source);
    else sets.set(packages.join(" "), { sources: [source], packages });
  };
  for (const [source, packages] of packagesBySource) {
    add(source, packages);
    if (!packages.some((name) => /^@google\/adk(?:@|$)/.test(name)))
      add(`${source} with ADK`, [...packages, "@google/adk"].toSorted());
  }
  return [...sets.values()];
}
