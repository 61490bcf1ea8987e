import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { Command } from "commander";
import type { Context } from "./context.ts";
import { scaffold } from "./init/scaffold.ts";
import { quoted } from "./invocation.ts";
import { outputOption } from "./options.ts";
import { Output, type Format } from "./output.ts";
import { Problem } from "./problem.ts";
import { toId } from "./serve/find.ts";
import { packageVersion } from "./version.ts";

interface Options {
  name?: string;
  output: Format;
}

export function initCommand(context: Context): Command {
  return new Command("init")
    .argument("[directory]", "where the project is to be; made when it is not there", ".")
    .option("--name <id>", "the agent's name (default: that of the directory)")
    .addOption(outputOption().env("A2ACLI_OUTPUT"))
    .action((directory: string, options: Options) => init(directory, options, context));
}

async function init(directory: string, { name, output: format }: Options, context: Context): Promise<void> {
  const root = resolve(context.cwd, directory);
  const files = scaffold(toId(name ?? basename(root)).toLowerCase(), packageVersion());
  const there = Object.keys(files).filter((file) => existsSync(join(root, file)));
  if (there.length > 0) {
    const message = `${root} has ${there.join(", ")} already, and nothing is overwritten.`;
    throw new Problem("A2ACLI_ERR_USAGE", message, "colloquy init another-directory");
  }
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    // Whoever made the file meanwhile keeps it.
    await writeFile(join(root, file), text, { flag: "wx" });
  }
  const output = new Output(context.streams, format);
  output.facts(
    { directory: root, files: Object.keys(files) },
    { Directory: root, Files: Object.keys(files).join(", ") },
  );
  const where = relative(context.cwd, root);
  const place = where.startsWith("..") ? root : where;
  output.hint(`${place === "" ? "" : `cd ${quoted(place)} && `}npm install && npm start`);
}
