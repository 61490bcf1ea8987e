/**
 * `npm run -s prose [-- PATH …]` lints pages, docstrings, and the command line's help for wording that readers stumble over.
 * It exits with 1 when it finds any, and with 2 when a path matches no text. `--summary` prints counts by file.
 */
import { parseArgs } from "node:util";
import { lintProse, type ProseFinding } from "./lint.ts";
import { listProseSources } from "./prose-sources.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { summary: { type: "boolean", default: false } },
});
const proseSources = listProseSources().filter(
  ({ file }) => positionals.length === 0 || positionals.some((path) => file.startsWith(path)),
);
const unmatched = positionals.filter((path) => !proseSources.some(({ file }) => file.startsWith(path)));
if (unmatched.length > 0) {
  console.error(`No text matches ${unmatched.join(", ")}. Paths are relative to the repository.`);
  process.exit(2);
}
const findings: ProseFinding[] = [];
for (const source of proseSources) findings.push(...lintProse(source));

if (values.summary) {
  const byFile = Object.entries(Object.groupBy(findings, ({ file }) => file));
  for (const [file, found = []] of byFile.toSorted(([, a = []], [, b = []]) => b.length - a.length))
    console.log(`${String(found.length).padStart(5)} ${file}`);
} else {
  for (const { file, line, rule, message } of findings) console.log(`${file}:${line} ${rule}: ${message}`);
}
console.log(`${findings.length} findings in ${proseSources.length} texts`);
process.exitCode = findings.length === 0 ? 0 : 1;
