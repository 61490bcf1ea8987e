import { type Block, blocksOf, isScript, read } from "./blocks.ts";
import { Meanings } from "./meanings.ts";
import { Terminal } from "./terminal.ts";

const SHELL = new Set(["sh", "bash", "console"]);

export function isShell({ language }: Block): boolean {
  return SHELL.has(language);
}

/** True for what `play` does something with. */
export function isPlayed(block: Block): boolean {
  return block.notRun === undefined && (isShell(block) || isScript(block));
}

/** A command, and what the page shows below it; undefined when it shows nothing. */
interface Step {
  readonly line: string;
  readonly shows: string | undefined;
}

/** What was printed, and what the page has in its place; both empty when the page is right. */
export interface Compared {
  readonly printed: string;
  readonly shown: string;
}

/** Does what a page says, from its top to its end, as far as what is printed is what it shows. */
export async function play(document: string, markdown: string = read(document)): Promise<Compared> {
  const meanings = await Meanings.of(markdown);
  const terminal = await Terminal.open(meanings.here("4120"));
  try {
    for (const [at, block] of blocksOf(document, markdown).entries()) {
      if (block.file !== undefined && !isShell(block)) {
        await terminal.write(block.file, meanings.here(block.code));
      } else if (isPlayed(block)) {
        const script = `block-${at}.ts`;
        if (!isShell(block)) await terminal.write(script, meanings.here(block.code));
        const steps = isShell(block) ? stepsOf(block) : [{ line: `node ${script}`, shows: block.prints }];
        for (const step of steps) {
          const compared = await take(step, terminal, meanings, `${document}:${block.line}`);
          if (compared) return compared;
        }
      }
    }
    return { printed: "", shown: "" };
  } finally {
    await terminal.close();
  }
}

/** Undefined when all is as the page has it. */
async function take(
  { line, shows }: Step,
  terminal: Terminal,
  meanings: Meanings,
  where: string,
): Promise<Compared | undefined> {
  const goesOn = line.endsWith(" &");
  // Nothing shown of what goes on beside: enough that it says it is there.
  const shown = shows ?? (goesOn ? "…\nCtrl-C stops it." : undefined);
  const seen = (printed: string): number | undefined =>
    shown === undefined ? 0 : meanings.match(shown, printed);
  const { code, printed } = await terminal.run(meanings.here(line), seen);
  const end = seen(printed);
  const isAll = end !== undefined && (goesOn || meanings.shown(printed).slice(end).trim() === "");
  const mayFail = /^error\b/m.test(shown ?? "");
  if ((code === 0 || mayFail) && (shown === undefined || isAll)) return undefined;
  const told = `${where}: ${line}\n`;
  return {
    printed: `${told}${meanings.shown(printed)}\n(exit code ${code})`,
    shown: `${told}${shown ?? "…"}\n(exit code 0)`,
  };
}

/** The commands of a block. One of `console` has `$` before each, and below it what it prints. */
export function stepsOf({ language, code, prints }: Block): Step[] {
  const lines = code.replaceAll(/\\\n/g, "\\\u0000").split("\n");
  const steps: { line: string; shown: string[] }[] = [];
  for (const line of lines) {
    const command = language === "console" ? /^\$ (.*)$/.exec(line)?.[1] : line;
    if (command === undefined) steps.at(-1)?.shown.push(line);
    else if (command.trim() !== "" && !command.startsWith("#"))
      steps.push({ line: command.replaceAll("\u0000", "\n").replace(/\s+#.*$/, ""), shown: [] });
  }
  return steps.map(({ line, shown }, at) => {
    const below = shown.join("\n").trimEnd();
    if (below !== "") return { line, shows: below };
    return { line, shows: at === steps.length - 1 ? prints : undefined };
  });
}
