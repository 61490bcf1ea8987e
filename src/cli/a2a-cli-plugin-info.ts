import { Command } from "commander";
import type { CliContext } from "./cli-context.ts";
import { PROGRAM_DESCRIPTION, readPackageVersion } from "./package-version.ts";

/**
 * Creates `colloquy info`, which prints plugin metadata for the official `a2a` CLI (a2a-cli,
 * docs/command-plugins.md). If `a2a-colloquy` is on the PATH, the official CLI runs `colloquy` as
 * `a2a colloquy …`.
 */
export function createA2aCliPluginInfoCommand({ streams }: CliContext): Command {
  return new Command("info").action(() => {
    const info = { name: "colloquy", version: readPackageVersion(), description: PROGRAM_DESCRIPTION };
    streams.out(`${JSON.stringify(info)}\n`);
  });
}
