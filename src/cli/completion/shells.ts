import type { Level, Word } from "./levels.ts";

// Each script is complete in itself: it asks the program nothing while somebody types.

export function bash(levels: readonly Level[]): string {
  return `# bash completion of colloquy
_colloquy() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    ${stepCase(levels, '"$at $word"', 'at="$at $word"')}
  done
  case "$at $prev" in
${valueCases(levels)
  .map(([pattern, values]) => `    ${pattern}) words="${values}" ;;`)
  .join("\n")}
    *) case "$at" in
${levels.map((level) => `      ${quoted(place(level))}) words="${wordsOf(level).join(" ")}" ;;`).join("\n")}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _colloquy colloquy
`;
}

export function zsh(levels: readonly Level[]): string {
  return `#compdef colloquy
_colloquy() {
  local at="" word prev="\${words[CURRENT-1]}"
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    ${stepCase(levels, '"$at $word"', 'at="$at $word"')}
  done
  case "$at $prev" in
${valueCases(levels)
  .map(([pattern, values]) => `    ${pattern}) compadd -- ${values}; return ;;`)
  .join("\n")}
  esac
  case "$at" in
${levels.map((level) => `    ${quoted(place(level))}) found=(${described(level).map(zshWord).join(" ")}) ;;`).join("\n")}
  esac
  _describe colloquy found || _files
}
compdef _colloquy colloquy
`;
}

export function fish(levels: readonly Level[]): string {
  const lines = levels.flatMap((level) => {
    const here = `complete -c colloquy -n ${quoted(`__colloquy_is "${place(level)}"`)}`;
    return [
      ...level.commands.map(({ word, about }) => `${here} -f -a ${word} -d ${quoted(about)}`),
      ...level.options.map(({ long, short, about, takesValue, values }) =>
        [
          here,
          long && `-l ${long.slice(2)}`,
          short && `-s ${short.slice(1)}`,
          takesValue && (values.length > 0 ? "-x" : "-r"),
          values.length > 0 && `-a ${quoted(values.join(" "))}`,
          `-d ${quoted(about)}`,
        ]
          .filter(Boolean)
          .join(" "),
      ),
    ];
  });
  const places = levels.slice(1).map((level) => quoted(place(level)));
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

/** Where one is, as the scripts keep it: each word with a blank in front. */
function place({ path }: Level): string {
  return path === "" ? "" : ` ${path}`;
}

/** Goes one level down when the word is a command there. */
function stepCase(levels: readonly Level[], subject: string, step: string): string {
  const places = levels.slice(1).map((level) => quoted(place(level)));
  return `case ${subject} in ${places.join("|")}) ${step} ;; esac`;
}

function valueCases(levels: readonly Level[]): [pattern: string, values: string][] {
  return levels.flatMap((level) =>
    level.options
      .filter(({ values }) => values.length > 0)
      .map(({ long, short, values }): [string, string] => {
        const names = [long, ...(short ? [short] : [])];
        return [names.map((name) => quoted(`${place(level)} ${name}`)).join("|"), values.join(" ")];
      }),
  );
}

function described({ commands, options }: Level): readonly Word[] {
  return [...commands, ...options];
}

function wordsOf(level: Level): string[] {
  return described(level).map(({ word }) => word);
}

function zshWord({ word, about }: Word): string {
  return quoted(`${word.replaceAll(":", "\\:")}:${about}`);
}

/** Single quotes, which mean the same to all three but for what stands between them. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "").replaceAll("\\", "")}'`;
}
