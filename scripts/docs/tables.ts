import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LOCAL } from "../../src/cli/problem.ts";
import { ERRORS, nameOfReason } from "../../src/wire/index.ts";
import { root, Source } from "./source.ts";

/** What can stand between `<!-- made of … -->` and `<!-- end -->` of a page: the words behind "made of", as Markdown. */
export function made(words: string): string {
  const [kind = "", file = "", ...names] = words.split(" ");
  if (kind === "members") return names.map((name) => membersOf(file, name)).join("\n\n");
  if (kind === "functions") return functionsOf(file, names);
  if (kind === "errors") return errors();
  if (kind === "cli-errors") return cliErrors();
  if (kind === "exports") return exportsOf();
  if (kind === "glossary") return glossary();
  throw new Error(
    `A page wants to be made of ${words}; known are members, functions, errors, cli-errors, exports and glossary.`,
  );
}

/** A table of what an interface has. A name that begins with + stands in no heading of its own. */
function membersOf(file: string, name: string): string {
  const declared = Source.of(file).declared(name);
  if (!declared) throw new Error(`There is no ${name} in ${file}.`);
  const rows = declared.members.map(
    ({ name: member, type, about }) => `| \`${member}\` | ${cell(code(type))} | ${cell(inText(about))} |`,
  );
  const head = [`### ${name}`, inText(declared.about)].filter((text) => text !== "").join("\n\n");
  return `${head}\n\n| | type | |\n|---|---|---|\n${rows.join("\n")}`;
}

function functionsOf(file: string, names: readonly string[]): string {
  const all = Source.of(file)
    .exported()
    .filter(({ declared }) => declared.kind === "function");
  const chosen = names.length === 0 ? all : names.map((name) => all.find((one) => one.name === name));
  const rows = chosen.map((one, at) => {
    if (!one) throw new Error(`There is no function ${names[at]} in ${file}.`);
    return `| ${cell(code(one.declared.type.replace(/: [\w<>[\], |]+$/, "")))} | ${cell(inText(withoutCode(one.declared.about)))} |`;
  });
  return `| | |\n|---|---|\n${rows.join("\n")}`;
}

/** Every reason, with what its comment says: the cause, and what to do. */
function errors(): string {
  const source = Source.of("src/protocol/error.ts");
  const said = ["A2AReason", "CarrierReason"].flatMap((name) => source.declared(name)?.members ?? []);
  const rows = Object.entries(ERRORS).map(([reason, { jsonRpc, http, grpc }]) => {
    const about = said.find(({ name }) => name === reason)?.about;
    if (!about)
      throw new Error(`Nothing is said of ${reason} in src/protocol/error.ts: its cause, and what to do.`);
    const [cause = "", remedy = ""] = about.replaceAll("\n", " ").split(/ To do: /);
    const name = nameOfReason(reason as keyof typeof ERRORS);
    return `| <a id="${reason.toLowerCase()}"></a>\`${reason}\` \`${name}\` | ${jsonRpc} | ${http} | ${grpc} | ${cell(cause)} | ${cell(remedy)} |`;
  });
  const head = "| reason, name | JSON-RPC | HTTP | gRPC | cause | what to do |\n|---|---|---|---|---|---|";
  return `${head}\n${rows.join("\n")}`;
}

/** The codes of the command line, with the exit code of each. */
function cliErrors(): string {
  const said = Source.of("src/cli/problem.ts").declared("LocalCode")?.members ?? [];
  const rows = Object.entries(LOCAL).map(([code, exit]) => {
    const about = said.find(({ name }) => name === code)?.about;
    if (!about)
      throw new Error(`Nothing is said of ${code} in src/cli/problem.ts: its cause, and what to do.`);
    const [cause = "", remedy = ""] = about.replaceAll("\n", " ").split(/ To do: /);
    return `| \`${code}\` | ${exit} | ${cell(cause)} | ${cell(remedy)} |`;
  });
  return `| code | exit code | cause | what to do |\n|---|---|---|---|\n${rows.join("\n")}`;
}

/** All that the package exports, entry by entry, with the first sentence of what is said of it. */
function exportsOf(): string {
  const { exports, name } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, string | { default: string }>;
  };
  const entries = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string" ? [] : [{ entry: name + path.slice(1), file: sourceOf(target.default) }],
  );
  const sections = entries.map(({ entry, file }) => {
    const exported = Source.of(file)
      .exported()
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const lines = exported
      .filter(({ name: one }, at) => exported.findIndex((other) => other.name === one) === at)
      .map(
        ({ name: one, declared: { kind, about } }) =>
          `| \`${one}\` | ${kind} | ${cell(firstSentence(inText(about)))} |`,
      );
    return `## ${entry}\n\n| | | |\n|---|---|---|\n${lines.join("\n")}`;
  });
  return sections.join("\n\n");
}

function sourceOf(built: string): string {
  return built.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts");
}

/** The names of the front alone and of every entry, for whoever checks imports. */
export function exportedNames(): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  let entry = "";
  for (const line of exportsOf().split("\n")) {
    const [, heading] = /^## (.+)$/.exec(line) ?? [];
    if (heading !== undefined) names.set((entry = heading), new Set());
    const [, name] = /^\| `(.+?)` \|/.exec(line) ?? [];
    if (name !== undefined) names.get(entry)?.add(name);
  }
  return names;
}

/** The glossary that the room of words begins with. */
function glossary(): string {
  const [, list = ""] = Source.of("src/protocol/index.ts").about.split(/^Glossary$/m);
  const entries = list
    .replaceAll(/\n +/g, " ")
    .replaceAll(/\n(?!- )/g, " ")
    .trim()
    .split("\n");
  const rows = entries.map((line) => {
    const [, word = "", about = ""] = /^- (.+?): (.+)$/.exec(line) ?? [];
    return `| ${cell(word)} | ${cell(about)} |`;
  });
  return `| | |\n|---|---|\n${rows.join("\n")}`;
}

function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ").trim();
}

function inText(about: string): string {
  return about.replaceAll(/\{@link (\w+)\}/g, "`$1`");
}

function withoutCode(about: string): string {
  return about.replaceAll(/```[^]*?```/g, "").split("\n\n")[0] ?? "";
}

function firstSentence(about: string): string {
  const [first = ""] = withoutCode(about)
    .replaceAll("\n", " ")
    .split(/(?<=[.:]) (?=[A-Z`])/);
  return first;
}
