import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT_CODES } from "../../src/cli/cli-error.ts";
import { renderMessageActionsTable, renderMessageOutcomesTable } from "./message-outcomes-table.ts";
import { ERROR_MAPPINGS, toA2AErrorName } from "../../src/wire/index.ts";
import { repositoryRoot, SourceFile } from "./source-file.ts";

const GENERATORS: Readonly<Record<string, (file: string, names: readonly string[]) => string>> = {
  members: (file, names) => names.map((name) => renderMembersTable(file, name)).join("\n\n"),
  functions: renderFunctionsTable,
  errors: renderErrorsTable,
  "cli-errors": renderCliErrorsTable,
  glossary: renderGlossary,
  "message-outcomes": renderMessageOutcomesTable,
  "message-actions": renderMessageActionsTable,
};

/**
 * Renders the Markdown between `<!-- made of … -->` and `<!-- end -->` in a page. `words` is the text after
 * "made of".
 */
export function renderGeneratedBlock(words: string): string {
  const [kind = "", file = "", ...names] = words.split(" ");
  const render = GENERATORS[kind];
  if (render === undefined)
    throw new Error(`Unknown generator "${words}" in a page. Use ${Object.keys(GENERATORS).join(", ")}.`);
  return render(file, names);
}

/** Renders a table of the members of an interface. */
function renderMembersTable(file: string, name: string): string {
  const declared = SourceFile.load(file).findDeclaration(name);
  if (!declared) throw new Error(`${file} does not declare ${name}.`);
  const rows = declared.members.map(
    ({ name, type, comment }) =>
      `| ${formatInlineCode(name)} | ${escapeMarkdownTableCell(formatInlineCode(type))} | ${escapeMarkdownTableCell(replaceLinkTagsWithCode(comment))} |`,
  );
  const head = [`### ${name}`, replaceLinkTagsWithCode(declared.comment)]
    .filter((text) => text !== "")
    .join("\n\n");
  return `${head}\n\n| name | type | description |\n|---|---|---|\n${rows.join("\n")}`;
}

function renderFunctionsTable(file: string, names: readonly string[]): string {
  const all = SourceFile.load(file)
    .listExports()
    .filter(({ declaration }) => declaration.kind === "function");
  const chosen = names.length === 0 ? all : names.map((name) => all.find((one) => one.name === name));
  const rows = chosen.map((one, index) => {
    if (!one) throw new Error(`${file} does not export a function ${names[index]}.`);
    return `| ${escapeMarkdownTableCell(formatInlineCode(one.declaration.type.replace(/: [\w<>[\], |]+$/, "")))} | ${escapeMarkdownTableCell(replaceLinkTagsWithCode(getFirstDocstringParagraphWithoutCode(one.declaration.comment)))} |`;
  });
  return `| | |\n|---|---|\n${rows.join("\n")}`;
}

/** Renders a table of all error reasons, with the cause and the remedy from the docstring of each. */
function renderErrorsTable(): string {
  const source = SourceFile.load("src/protocol/error.ts");
  const members = ["A2AErrorReason", "TransportErrorReason"].flatMap(
    (name) => source.findDeclaration(name)?.members ?? [],
  );
  const rows = Object.entries(ERROR_MAPPINGS).map(([reason, { jsonRpc, http, grpc }]) => {
    const about = members.find(({ name }) => name === reason)?.comment;
    if (!about)
      throw new Error(
        `${reason} has no docstring in src/protocol/error.ts. Describe its cause and the remedy.`,
      );
    const [cause = "", remedy = ""] = about.replaceAll("\n", " ").split(/ To do: /);
    const name = toA2AErrorName(reason as keyof typeof ERROR_MAPPINGS);
    return `| <a id="${reason.toLowerCase()}"></a>\`${reason}\` \`${name}\` | ${jsonRpc} | ${http} | ${grpc} | ${escapeMarkdownTableCell(cause)} | ${escapeMarkdownTableCell(remedy)} |`;
  });
  const head = "| reason, name | JSON-RPC | HTTP | gRPC | cause | what to do |\n|---|---|---|---|---|---|";
  return `${head}\n${rows.join("\n")}`;
}

/** Renders a table of the command line's error codes and their exit codes. */
function renderCliErrorsTable(): string {
  const members = SourceFile.load("src/cli/cli-error.ts").findDeclaration("CliErrorCode")?.members ?? [];
  const rows = Object.entries(EXIT_CODES).map(([code, exit]) => {
    const about = members.find(({ name }) => name === code)?.comment;
    if (!about)
      throw new Error(`${code} has no docstring in src/cli/cli-error.ts. Describe its cause and the remedy.`);
    const [cause = "", remedy = ""] = about.replaceAll("\n", " ").split(/ To do: /);
    return `| \`${code}\` | ${exit} | ${escapeMarkdownTableCell(cause)} | ${escapeMarkdownTableCell(remedy)} |`;
  });
  return `| code | exit code | cause | what to do |\n|---|---|---|---|\n${rows.join("\n")}`;
}

/** Returns the exported names by package entry, for checking imports. */
export function listExportedNames(): Map<string, Set<string>> {
  const { exports, name } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, string | { types: string }>;
  };
  return new Map(
    Object.entries(exports).flatMap(([path, target]) =>
      typeof target === "string"
        ? []
        : [
            [
              name + path.slice(1),
              new Set(
                SourceFile.load(toSourcePath(target.types))
                  .listExports()
                  .map((exported) => exported.name),
              ),
            ] as const,
          ],
    ),
  );
}

function toSourcePath(built: string): string {
  return built.replace(/^\.\/dist\//, "src/").replace(/\.d\.ts$/, ".ts");
}

/** Renders the glossary at the top of `src/protocol/index.ts`. */
function renderGlossary(): string {
  const [, list = ""] = SourceFile.load("src/protocol/index.ts").fileComment.split(/^Glossary$/m);
  const entries = list
    .replaceAll(/\n +/g, " ")
    .replaceAll(/\n(?!- )/g, " ")
    .trim()
    .split("\n");
  const rows = entries.map((line) => {
    const [, word = "", about = ""] = /^- (.+?): (.+)$/.exec(line) ?? [];
    return `| ${escapeMarkdownTableCell(word)} | ${escapeMarkdownTableCell(about.charAt(0).toUpperCase() + about.slice(1))} |`;
  });
  return `| | |\n|---|---|\n${rows.join("\n")}`;
}

function formatInlineCode(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}

function escapeMarkdownTableCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ").trim();
}

function replaceLinkTagsWithCode(about: string): string {
  return about.replaceAll(/\{@link (\w+)\}/g, "`$1`");
}

function getFirstDocstringParagraphWithoutCode(about: string): string {
  return about.replaceAll(/```[^]*?```/g, "").split("\n\n")[0] ?? "";
}
