import { type CodeBlock, parseCodeBlocks, isExecuted, isShellBlock, readDocument } from "./code-blocks.ts";
import { PageValues } from "./page-values.ts";
import { Terminal } from "./terminal.ts";

/** A command and its expected output, which is `undefined` when the page shows none. */
interface CommandStep {
  readonly line: string;
  readonly expectedOutput: string | undefined;
}

/** The actual and the expected output. Both are empty when they match. */
export interface OutputMismatch {
  readonly printed: string;
  readonly shown: string;
}

/**
 * Runs the code blocks of a page from top to bottom. Stops at the first output that differs from the page.
 */
export async function runDocument(
  document: string,
  markdown: string = readDocument(document),
  runtime?: readonly string[],
): Promise<OutputMismatch> {
  const values = await PageValues.create(markdown);
  const terminal = await Terminal.open(values.toActual("4120"), runtime);
  try {
    for (const [index, block] of parseCodeBlocks(document, markdown).entries()) {
      if (block.file !== undefined && !isShellBlock(block)) {
        await terminal.writeFile(block.file, values.toActual(block.code));
      } else if (isExecuted(block)) {
        const script = `block-${index}.ts`;
        if (!isShellBlock(block)) await terminal.writeFile(script, values.toActual(block.code));
        const steps = isShellBlock(block)
          ? parseSteps(block)
          : [{ line: `node ${script}`, expectedOutput: block.expectedOutput }];
        for (const step of steps) {
          const compared = await runStep(step, terminal, values, `${document}:${block.line}`);
          if (compared) return compared;
        }
      }
    }
    return { printed: "", shown: "" };
  } finally {
    await terminal.close();
  }
}

/** Returns `undefined` when the output matches the page. */
async function runStep(
  { line, expectedOutput }: CommandStep,
  terminal: Terminal,
  values: PageValues,
  location: string,
): Promise<OutputMismatch | undefined> {
  const isBackground = line.endsWith(" &");
  // For a background command without expected output, wait until it reports that it is running.
  const shown = expectedOutput ?? (isBackground ? "…\nCtrl-C stops it." : undefined);
  const matchShown = (printed: string): number | undefined =>
    shown === undefined ? 0 : values.matchOutput(shown, printed);
  const { code, printed } = await terminal.run(values.toActual(line), matchShown);
  const end = matchShown(printed);
  const isAll = end !== undefined && (isBackground || values.toShown(printed).slice(end).trim() === "");
  const mayFail = /^error\b/m.test(shown ?? "");
  if ((code === 0 || mayFail) && (shown === undefined || isAll)) return undefined;
  const heading = `${location}: ${line}\n`;
  return {
    printed: `${heading}${values.toShown(printed)}\n(exit code ${code})`,
    shown: `${heading}${shown ?? "…"}\n(exit code 0)`,
  };
}

/**
 * Parses the commands of a block. In a `console` block each command follows `$`, and its output is below it.
 */
export function parseSteps({ language, code, expectedOutput }: CodeBlock): CommandStep[] {
  const lines = code.replaceAll(/\\\n/g, "\\\u0000").split("\n");
  const steps: { line: string; shown: string[] }[] = [];
  for (const line of lines) {
    const command = language === "console" ? /^\$ (.*)$/.exec(line)?.[1] : line;
    if (command === undefined) steps.at(-1)?.shown.push(line);
    else if (command.trim() !== "" && !command.startsWith("#"))
      steps.push({ line: command.replaceAll("\u0000", "\n").replace(/\s+#.*$/, ""), shown: [] });
  }
  return steps.map(({ line, shown }, index) => {
    const output = shown.join("\n").trimEnd();
    if (output !== "") return { line, expectedOutput: output };
    return { line, expectedOutput: index === steps.length - 1 ? expectedOutput : undefined };
  });
}
