import type { BundledPackage } from "./third-party-notices.ts";

interface SbomComponent {
  readonly name: string;
  readonly version: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

/** The parts of a CycloneDX document that are read here. */
export interface Sbom {
  readonly components: readonly SbomComponent[];
  readonly dependencies: readonly { readonly ref: string }[];
}

const SBOM_COMMAND = ["sbom", "--package-lock-only", "--sbom-format=cyclonedx", "--sbom-type=library"];

/**
 * Creates the SBOM (CycloneDX) of the published package: the packages that npm installs with it, and the packages whose
 * code its files contain. npm knows the latter only as development dependencies.
 *
 * @param runNpm Runs npm in the repository, and returns its output.
 */
export function createSbom(
  runNpm: (args: readonly string[]) => string,
  bundledPackages: readonly BundledPackage[],
): Sbom {
  const installed = JSON.parse(
    runNpm([...SBOM_COMMAND, "--omit=dev", "--omit=peer", "--omit=optional"]),
  ) as Sbom;
  const all = JSON.parse(runNpm(SBOM_COMMAND)) as Sbom;
  return addBundledComponents(installed, all, bundledPackages);
}

type PackageVersion = Pick<BundledPackage, "name" | "version">;

const isSame =
  (a: PackageVersion) =>
  (b: PackageVersion): boolean =>
    a.name === b.name && a.version === b.version;

/** Adds the components of bundled packages. Throws if npm does not know one of them. */
export function addBundledComponents(
  installed: Sbom,
  all: Sbom,
  bundledPackages: readonly PackageVersion[],
): Sbom {
  const added = bundledPackages
    .filter((bundled) => !installed.components.some(isSame(bundled)))
    .map((bundled): SbomComponent => {
      const component = all.components.find(isSame(bundled));
      if (!component) throw new Error(`npm sbom does not list ${bundled.name} ${bundled.version}.`);
      const { properties: _, ...rest } = component;
      return { ...rest, properties: [{ name: "colloquy:bundled", value: "true" }] };
    });
  return { ...installed, components: [...installed.components, ...added] };
}
