import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { defineClientCommand, requireSingleId } from "./define-agent-command.ts";
import type { CliContext } from "./cli-context.ts";
import { collectArtifactFiles } from "./download/collect-artifact-files.ts";
import type { ClientOptions } from "./client-options.ts";
import { CliError, createUsageError } from "./cli-error.ts";

interface TaskDownloadOptions extends ClientOptions {
  dir: string;
  force?: boolean;
}

export function createTaskDownloadCommand(context: CliContext): Command {
  const command = new Command("download")
    .option("--dir <directory>", "directory for the files; created if missing", ".")
    .option("--force", "overwrite existing files");
  return defineClientCommand<TaskDownloadOptions>(command, "<task id> ", context, async (call) => {
    const { client, signal, options, output } = call;
    const task = await client.tasks.get(requireSingleId(call.args), { signal, historyLength: 0 });
    const { files, links } = collectArtifactFiles(task);
    const directory = resolve(context.cwd, options.dir);
    await mkdir(directory, { recursive: true });
    const saved: { path: string; artifactId: string; mediaType: string; bytes: number }[] = [];
    for (const { name, artifactId, mediaType, bytes } of files) {
      const path = join(directory, name);
      await writeDownloadedFile(path, bytes, options.force === true);
      saved.push({ path, artifactId, mediaType, bytes: bytes.length });
    }
    const { id, contextId, status } = task;
    output.writeSavedFiles({ id, contextId, state: status.state }, saved, links);
  });
}

async function writeDownloadedFile(path: string, bytes: Uint8Array, overwrite: boolean): Promise<void> {
  try {
    await writeFile(path, bytes, { flag: overwrite ? "w" : "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    if (error.code === "EEXIST") {
      const hint = "Use --dir for another directory, or --force to overwrite.";
      throw createUsageError(`${path} already exists.`, hint, error);
    }
    throw new CliError(
      "A2ACLI_ERR_INTERNAL",
      `${path} cannot be written: ${error.message}`,
      undefined,
      error,
    );
  }
}
