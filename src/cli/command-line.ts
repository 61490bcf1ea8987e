import { basename, relative } from "node:path";

/** How the user called this tool, so that the commands that it prints can be pasted as they are. */
export function getInvocationCommand(
  argv: readonly string[] = process.argv,
  env: Record<string, string | undefined> = process.env,
): string {
  if (env["npm_command"] === "exec") return "npx colloquy";
  // In a clone the scripts run on the Node that the package brings along, which the host's may be too old for.
  if (env["npm_lifecycle_event"] !== undefined) return "npm run -s colloquy --";
  const script = argv[1] ?? "colloquy";
  const name = basename(script);
  return name === "colloquy" || name === "a2a-colloquy" ? name : `node ${relative(process.cwd(), script)}`;
}

/** A word for a POSIX shell: as it is when that is safe, else in single quotes. */
export function quoteShellWord(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The command that does the same again with other words: `colloquy send 'two words'`. */
export function formatCommandLine(...words: string[]): string {
  return [getInvocationCommand(), ...words.map(quoteShellWord)].join(" ");
}
