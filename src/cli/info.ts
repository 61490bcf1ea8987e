import { Command } from "commander";
import type { Context } from "./context.ts";
import { ABOUT, packageVersion } from "./version.ts";

/**
 * What the official `a2a` wants to know of a command plugin (a2a-cli, docs/command-plugins.md): with `a2a-colloquy` on
 * the PATH, `a2a colloquy …` is this program.
 */
export function infoCommand({ streams }: Context): Command {
  return new Command("info").action(() => {
    const info = { name: "colloquy", version: packageVersion(), description: ABOUT };
    streams.out(`${JSON.stringify(info)}\n`);
  });
}
