import { Argument, Command } from "commander";
import {
  renderBashCompletion,
  renderFishCompletion,
  renderZshCompletion,
} from "./completion/shell-scripts.ts";
import { collectCompletionLevels } from "./completion/completion-levels.ts";
import type { CliContext } from "./cli-context.ts";

const COMPLETION_SCRIPT_RENDERERS = {
  bash: renderBashCompletion,
  zsh: renderZshCompletion,
  fish: renderFishCompletion,
};

/** Creates `colloquy completion`. `main.ts` loads all commands before `colloquy completion` runs. */
export function createCompletionCommand({ streams }: CliContext): Command {
  return new Command("completion")
    .addArgument(
      new Argument("<shell>", "the shell that reads the script").choices(
        Object.keys(COMPLETION_SCRIPT_RENDERERS),
      ),
    )
    .addHelpText(
      "after",
      `
Examples:
  source <(colloquy completion bash)                                        # in ~/.bashrc
  source <(colloquy completion zsh)                                         # in ~/.zshrc
  colloquy completion fish > ~/.config/fish/completions/colloquy.fish`,
    )
    .action((shell: keyof typeof COMPLETION_SCRIPT_RENDERERS, _, self: Command) => {
      streams.out(COMPLETION_SCRIPT_RENDERERS[shell](collectCompletionLevels(self.parent as Command)));
    });
}
