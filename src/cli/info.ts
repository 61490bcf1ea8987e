import { Command } from "commander";
import type { CliContext } from "./cli-context.ts";
import { PROGRAM_DESCRIPTION, readPackageVersion } from "./version.ts";

/**
 * Creates `colloquy info`, which prints the metadata of a command plugin for the official `a2a` CLI (a2a-cli,
 * docs/command-plugins.md). With `a2a-colloquy` on the PATH, `a2a colloquy …` runs this program.
 */
export function createInfoCommand({ streams }: CliContext): Command {
  return new Command("info").action(() => {
    const info = { name: "colloquy", version: readPackageVersion(), description: PROGRAM_DESCRIPTION };
    streams.out(`${JSON.stringify(info)}\n`);
  });
}
