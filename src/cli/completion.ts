import { Argument, Command } from "commander";
import type { CliContext } from "./cli-context.ts";
import {
  collectCompletionLevels,
  type CompletionLevel,
  type CompletionWord,
} from "./completion/completion-levels.ts";

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

// Each script is self-contained and never starts the program during completion.

function renderBashCompletion(levels: readonly CompletionLevel[]): string {
  return `# bash completion of colloquy
_colloquy() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    ${renderSubcommandCase(levels, '"$at $word"', 'at="$at $word"')}
  done
  case "$at $prev" in
${collectValueCases(levels)
  .map(([pattern, values]) => `    ${pattern}) words="${values}" ;;`)
  .join("\n")}
    *) case "$at" in
${levels.map((level) => `      ${quoteForShell(formatLevelPath(level))}) words="${listWordNames(level).join(" ")}" ;;`).join("\n")}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _colloquy colloquy
`;
}

function renderZshCompletion(levels: readonly CompletionLevel[]): string {
  return `#compdef colloquy
_colloquy() {
  local at="" word prev="\${words[CURRENT-1]}"
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    ${renderSubcommandCase(levels, '"$at $word"', 'at="$at $word"')}
  done
  case "$at $prev" in
${collectValueCases(levels)
  .map(([pattern, values]) => `    ${pattern}) compadd -- ${values}; return ;;`)
  .join("\n")}
  esac
  case "$at" in
${levels.map((level) => `    ${quoteForShell(formatLevelPath(level))}) found=(${listLevelWords(level).map(renderZshWord).join(" ")}) ;;`).join("\n")}
  esac
  _describe colloquy found || _files
}
compdef _colloquy colloquy
`;
}

function renderFishCompletion(levels: readonly CompletionLevel[]): string {
  const lines = levels.flatMap((level) => {
    const prefix = `complete -c colloquy -n ${quoteForShell(`__colloquy_is "${formatLevelPath(level)}"`)}`;
    return [
      ...level.commands.map(
        ({ word, description }) => `${prefix} -f -a ${word} -d ${quoteForShell(description)}`,
      ),
      ...level.options.map(({ long, short, description, takesValue, values }) =>
        [
          prefix,
          long && `-l ${long.slice(2)}`,
          short && `-s ${short.slice(1)}`,
          takesValue && (values.length > 0 ? "-x" : "-r"),
          values.length > 0 && `-a ${quoteForShell(values.join(" "))}`,
          `-d ${quoteForShell(description)}`,
        ]
          .filter(Boolean)
          .join(" "),
      ),
    ];
  });
  const places = levels.slice(1).map((level) => quoteForShell(formatLevelPath(level)));
  return `# fish completion of colloquy
function __colloquy_is
  set -l at ""
  set -l words (commandline -opc)
  set -e words[1]
  for word in $words
    switch "$at $word"
      case ${places.join(" ")}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join("\n")}
`;
}

/** Formats a command path for a shell script, with a space before each word. */
function formatLevelPath({ commandPath }: CompletionLevel): string {
  return commandPath === "" ? "" : ` ${commandPath}`;
}

/** Renders the shell statement that switches to the completion level of a subcommand. */
function renderSubcommandCase(levels: readonly CompletionLevel[], subject: string, step: string): string {
  const places = levels.slice(1).map((level) => quoteForShell(formatLevelPath(level)));
  return `case ${subject} in ${places.join("|")}) ${step} ;; esac`;
}

function collectValueCases(levels: readonly CompletionLevel[]): [pattern: string, values: string][] {
  return levels.flatMap((level) =>
    level.options
      .filter(({ values }) => values.length > 0)
      .map(({ long, short, values }): [string, string] => {
        const names = [long, ...(short ? [short] : [])];
        return [
          names.map((name) => quoteForShell(`${formatLevelPath(level)} ${name}`)).join("|"),
          values.join(" "),
        ];
      }),
  );
}

function listLevelWords({ commands, options }: CompletionLevel): readonly CompletionWord[] {
  return [...commands, ...options];
}

function listWordNames(level: CompletionLevel): string[] {
  return listLevelWords(level).map(({ word }) => word);
}

function renderZshWord({ word, description }: CompletionWord): string {
  return quoteForShell(`${word.replaceAll(":", "\\:")}:${description}`);
}

/**
 * Removes quotes and backslashes from a text and encloses the text in single quotes. The quoted text is valid
 * in bash, zsh, and fish.
 */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "").replaceAll("\\", "")}'`;
}
