import { Command } from "commander";
import type { CliContext } from "./cli-context.ts";
import { PROGRAM_DESCRIPTION, readPackageVersion } from "./version.ts";

/**
 * Creates `colloquy info`, which prints this program's metadata as a plugin of the official `a2a` CLI
 * (a2a-cli, docs/command-plugins.md). If `a2a-colloquy` is on the PATH, `a2a colloquy …` runs this program.
 */
export function createInfoCommand({ streams }: CliContext): Command {
  return new Command("info").action(() => {
    const info = { name: "colloquy", version: readPackageVersion(), description: PROGRAM_DESCRIPTION };
    streams.out(`${JSON.stringify(info)}\n`);
  });
}
