import type { BundledPackage } from "./third-party-notices.ts";

interface SbomProperty {
  readonly name: string;
  readonly value: string;
}

interface SbomComponent {
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly properties?: readonly SbomProperty[];
}

interface SbomDependency {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

/** The parts of a CycloneDX document that are read here. */
export interface Sbom {
  readonly metadata: { readonly component: SbomComponent };
  readonly components: readonly SbomComponent[];
  readonly dependencies: readonly SbomDependency[];
}

/** The members of package.json that are read here. */
export interface SbomManifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

// Without `--omit=dev`: with it, npm 11 drops a dependency that a development dependency also needs.
const SBOM_COMMAND = ["sbom", "--package-lock-only", "--sbom-format=cyclonedx", "--sbom-type=library"];

/**
 * Creates the SBOM (CycloneDX) of the published package: the packages that npm installs with it, and the packages whose
 * code its files contain. npm knows the latter only as development dependencies.
 *
 * @param runNpm Runs npm in the repository, and returns its output.
 */
export function createSbom(
  runNpm: (args: readonly string[]) => string,
  manifest: SbomManifest,
  bundledPackages: readonly PackageVersion[],
): Sbom {
  const all = JSON.parse(runNpm(SBOM_COMMAND)) as Sbom;
  return addBundledComponents(selectInstalledComponents(all, manifest), all, bundledPackages);
}

/**
 * Returns the SBOM with only the packages that npm installs with the published package. Throws if a dependency of the
 * manifest is missing.
 */
export function selectInstalledComponents(all: Sbom, manifest: SbomManifest): Sbom {
  const { name, version } = manifest;
  const rootRef = `${name}@${version}`;
  const dependencies = selectReachableDependencies(all, manifest, rootRef);
  const refs = new Set(dependencies.map(({ ref }) => ref));
  // npm names the root after its folder. The published manifest is not private.
  const { properties = [], ...root } = all.metadata.component;
  return {
    ...all,
    metadata: {
      ...all.metadata,
      component: {
        ...root,
        "bom-ref": rootRef,
        name,
        properties: properties.filter((property) => property.name !== "cdx:npm:package:private"),
      },
    },
    components: all.components.filter((component) => refs.has(component["bom-ref"])),
    dependencies,
  };
}

function selectReachableDependencies(all: Sbom, manifest: SbomManifest, rootRef: string): SbomDependency[] {
  const dependenciesByRef = new Map(all.dependencies.map((dependency) => [dependency.ref, dependency]));
  const namesByRef = new Map(all.components.map((component) => [component["bom-ref"], component.name]));
  const npmRootRef = all.metadata.component["bom-ref"];
  const rootRefs = dependenciesByRef.get(npmRootRef)?.dependsOn ?? [];
  const directRefs = Object.keys(manifest.dependencies).map((name) => {
    const direct = rootRefs.find((ref) => namesByRef.get(ref) === name);
    if (direct === undefined) throw new Error(`npm sbom does not list the dependency ${name}.`);
    return direct;
  });
  const reached = new Set(directRefs);
  // A set also iterates over the members that the loop adds.
  for (const ref of reached)
    for (const next of dependenciesByRef.get(ref)?.dependsOn ?? []) reached.add(next);
  return [
    { ref: rootRef, dependsOn: directRefs },
    ...[...reached].map((ref) => dependenciesByRef.get(ref) ?? { ref, dependsOn: [] }),
  ];
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
