import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A package whose code is part of ours. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression of its package.json. */
  readonly license: string;
  /** The text of its license, and of its NOTICE file if it has one. */
  readonly licenseText: string;
}

/** Licenses of code that we may distribute under Apache-2.0, if their text goes with the code. */
const DISTRIBUTABLE_LICENSES = new Set(["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"]);

/** Returns whether one of the alternatives of an SPDX expression is a permissive license. */
export function isDistributable(license: string): boolean {
  const alternatives = license.replaceAll(/[()]/g, "").split(/ OR /i);
  return alternatives.some((alternative) =>
    alternative.split(/ AND /i).every((name) => DISTRIBUTABLE_LICENSES.has(name.trim())),
  );
}

/** Reads a package in node_modules. Throws if its license is unknown, or if its text is missing. */
export function readBundledPackage(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<
    "name" | "version" | "license",
    string
  >;
  if (!isDistributable(license))
    throw new Error(
      `${name} ${version} has the license ${license}. Check whether our package may contain it.`,
    );
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)(?:\.|-|$)/i.test(file));
  const texts = files.toSorted().map((file) => readFileSync(join(folder, file), "utf8").trim());
  if (!files.some((file) => !/^notice/i.test(file)))
    throw new Error(`${name} ${version} has no license file in ${folder}.`);
  return { name, version, license, licenseText: texts.join("\n\n") };
}

/** Renders the file THIRD_PARTY_NOTICES. Packages with the same text share one section. */
export function renderThirdPartyNotices(
  packages: readonly BundledPackage[],
  notices: readonly { readonly title: string; readonly text: string }[] = [],
): string {
  const byText = Map.groupBy(
    packages.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ({ licenseText }) => licenseText,
  );
  const sections = [...byText].map(([text, sharing]) => ({
    title: sharing.map(({ name, version, license }) => `${name} ${version} (${license})`).join("\n"),
    text,
  }));
  const parts = [...sections, ...notices].map(
    ({ title, text }) => `${"-".repeat(80)}\n${title}\n\n${text}\n`,
  );
  return `Colloquy contains code and data of others. Their licenses and notices follow.\n\n${parts.join("\n")}`;
}
