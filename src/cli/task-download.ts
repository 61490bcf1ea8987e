import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { clientCommand, onlyId } from "./command.ts";
import type { Context } from "./context.ts";
import { filesOf } from "./download/files.ts";
import type { ClientOptions } from "./options.ts";
import { Problem } from "./problem.ts";

interface Options extends ClientOptions {
  dir: string;
  force?: boolean;
}

export function taskDownloadCommand(context: Context): Command {
  const command = new Command("download")
    .option("--dir <directory>", "where the files are to be; made when it is not there", ".")
    .option("--force", "overwrite files that are there already");
  return clientCommand<Options>(command, "<task id> ", context, async (call) => {
    const { remote, signal, options, output } = call;
    const task = await remote.task.get(onlyId(call.words), { signal, historyLength: 0 });
    const { files, links } = filesOf(task);
    const directory = resolve(context.cwd, options.dir);
    await mkdir(directory, { recursive: true });
    const saved: { path: string; artifactId: string; mediaType: string; bytes: number }[] = [];
    for (const { name, artifactId, mediaType, bytes } of files) {
      const path = join(directory, name);
      await save(path, bytes, options.force === true);
      saved.push({ path, artifactId, mediaType, bytes: bytes.length });
    }
    const { id, contextId, status } = task;
    output.saved({ id, contextId, state: status.state }, saved, links);
  });
}

async function save(path: string, bytes: Uint8Array, overwrite: boolean): Promise<void> {
  try {
    await writeFile(path, bytes, { flag: overwrite ? "w" : "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    if (error.code === "EEXIST") {
      const hint = "--dir takes another directory, --force overwrites.";
      throw new Problem("A2ACLI_ERR_USAGE", `${path} is there already.`, hint, error);
    }
    throw new Problem(
      "A2ACLI_ERR_INTERNAL",
      `${path} can not be written: ${error.message}`,
      undefined,
      error,
    );
  }
}
