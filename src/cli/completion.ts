import { Argument, Command } from "commander";
import { bash, fish, zsh } from "./completion/shells.ts";
import { levelsOf } from "./completion/levels.ts";
import type { Context } from "./context.ts";

const SHELLS = { bash, zsh, fish };

/** The whole tree of commands has been loaded for it. */
export function completionCommand({ streams }: Context): Command {
  return new Command("completion")
    .addArgument(new Argument("<shell>", "the shell that reads the script").choices(Object.keys(SHELLS)))
    .addHelpText(
      "after",
      `
Examples:
  source <(colloquy completion bash)                                        # in ~/.bashrc
  source <(colloquy completion zsh)                                         # in ~/.zshrc
  colloquy completion fish > ~/.config/fish/completions/colloquy.fish`,
    )
    .action((shell: keyof typeof SHELLS, _, self: Command) => {
      streams.out(SHELLS[shell](levelsOf(self.parent as Command)));
    });
}
