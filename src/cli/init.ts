import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { Command, Option } from "commander";
import type { CliContext } from "./cli-context.ts";
import { buildProjectFiles } from "./init/project-files.ts";
import { buildTemplateFiles, TEMPLATE_NAMES, type TemplateName } from "./init/template-files.ts";
import { quoteShellWord } from "./format-colloquy-command.ts";
import { createOutputOption } from "./client-options.ts";
import { OutputWriter, type OutputFormat } from "./output-writer.ts";
import { createUsageError } from "./cli-error.ts";
import { toUrlSafeAgentId } from "./serve/find-agent-files.ts";
import { findInstallableDependency } from "./init/installable-dependency.ts";

interface InitOptions {
  name?: string;
  template?: TemplateName;
  output: OutputFormat;
}

export function createInitCommand(context: CliContext): Command {
  return new Command("init")
    .argument("[directory]", "directory of the project; created if missing", ".")
    .option("--name <id>", "name of the agent (default: the directory's name)")
    .addOption(
      new Option("--template <template>", "kind of the project (default: a single agent)").choices(
        TEMPLATE_NAMES,
      ),
    )
    .addOption(createOutputOption().env("A2ACLI_OUTPUT"))
    .action((directory: string, options: InitOptions) => runInit(directory, options, context));
}

async function runInit(
  directory: string,
  { name, template, output: format }: InitOptions,
  context: CliContext,
): Promise<void> {
  const root = resolve(context.cwd, directory);
  const projectName = toUrlSafeAgentId(name ?? basename(root)).toLowerCase();
  const dependency = findInstallableDependency();
  const files =
    template === undefined
      ? buildProjectFiles(projectName, dependency)
      : buildTemplateFiles(template, projectName, dependency);
  // A folder of a new repository often has a README.
  if (existsSync(join(root, "README.md"))) delete files["README.md"];
  const existing = Object.keys(files).filter((file) => existsSync(join(root, file)));
  if (existing.length > 0) {
    const message = `${root} already has ${existing.join(", ")}. Nothing was overwritten.`;
    throw createUsageError(message, "colloquy init another-directory");
  }
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    // The flag `wx` never overwrites a file, even if it was created since the check above.
    await writeFile(join(root, file), text, { flag: "wx" });
  }
  const output = new OutputWriter(context.streams, format);
  output.writeResult(
    { directory: root, files: Object.keys(files) },
    { Directory: root, Files: Object.keys(files).join(", ") },
  );
  const relativePath = relative(context.cwd, root);
  const shownPath = relativePath.startsWith("..") ? root : relativePath;
  output.writeHint(
    `${shownPath === "" ? "" : `cd ${quoteShellWord(shownPath)} && `}npm install && npm run dev`,
  );
}
