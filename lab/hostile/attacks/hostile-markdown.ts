import { type BoundaryAttack, defineBoundaryAttack } from "../attack.ts";

// The compiler does not follow the import, because the types of highlight.js declare a DOM for all modules.
const CONVERTER = new URL("../../../src/studio/pages/worker/convert-markdown.ts", import.meta.url).href;

/** Less time than the deadline of the page, which is the second line of defense and keeps other texts waiting. */
const MAX_CPU_MS = 1_000;
const MAX_HTML_LENGTH = 10_000_000;

/** Texts that the parser needs seconds for, or whose HTML is much longer than the text. */
const TEXTS: Readonly<Record<string, string>> = {
  "alternating delimiters": "_*a".repeat(10_000),
  "brackets with delimiters": "[*a".repeat(10_000),
  "nested quotes": ">".repeat(190_000),
  "nested lists": "1. ".repeat(60_000),
  "a long target that many links repeat": `[a]: /${"x".repeat(50_000)}\n\n${"[a]\n\n".repeat(1_400)}`,
  "code in C++ of long words": `\`\`\`cpp\n${`${"a".repeat(99)} `.repeat(98)}\n\`\`\``,
  "blocks of code with many lines": `\`\`\`ts\n${"\n".repeat(900)}\n\`\`\`\n\n`.repeat(100),
};

export const attack: BoundaryAttack = defineBoundaryAttack({
  title: "an agent sends Markdown that is expensive to parse to the page of the console",
  run: async () => {
    const { convertMarkdown } = (await import(CONVERTER)) as {
      readonly convertMarkdown: (text: string) => string | undefined;
    };
    const figures: Record<string, number> = {};
    const problems: string[] = [];
    for (const [name, text] of Object.entries(TEXTS)) {
      const before = process.cpuUsage();
      const html = convertMarkdown(text);
      const { user, system } = process.cpuUsage(before);
      const cpuMs = (user + system) / 1000;
      figures[`cpuMs of ${name}`] = cpuMs;
      if (cpuMs > MAX_CPU_MS) problems.push(`${name} took ${Math.round(cpuMs)} ms of CPU time`);
      if ((html?.length ?? 0) > MAX_HTML_LENGTH) problems.push(`${name} became ${html?.length} characters`);
    }
    return { figures, problems };
  },
});
