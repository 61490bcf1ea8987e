import { Command } from "commander";
import type { CliContext } from "./cli-context.ts";
import { PROGRAM_DESCRIPTION, readPackageVersion } from "./version.ts";

/**
 * What the official `a2a` wants to know of a command plugin (a2a-cli, docs/command-plugins.md): with `a2a-colloquy` on
 * the PATH, `a2a colloquy …` is this program.
 */
export function createInfoCommand({ streams }: CliContext): Command {
  return new Command("info").action(() => {
    const info = { name: "colloquy", version: readPackageVersion(), description: PROGRAM_DESCRIPTION };
    streams.out(`${JSON.stringify(info)}\n`);
  });
}
