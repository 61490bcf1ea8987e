import {
  type BindingReport,
  count,
  type ExpectedException,
  LEVELS,
  type Tally,
} from "../../src/studio/judge/index.ts";

/** Formats the results of one binding as text. */
export function formatReport(
  { binding, results }: BindingReport,
  exceptions: readonly ExpectedException[],
): string {
  const lines = [`${binding}: ${formatTally(count(results))}`];
  for (const level of LEVELS)
    lines.push(`  ${level.toUpperCase().padEnd(6)} ${formatTally(count(results, level))}`);
  for (const { test, outcome, step, reason = "" } of results) {
    if (outcome === "passed") continue;
    const entry = exceptions.find(({ test: id, bindings }) => id === test.id && bindings.includes(binding));
    const where = step === undefined ? "" : ` step ${step}:`;
    lines.push(`  ${outcome} ${test.id} (${test.level}):${where} ${reason}`);
    if (entry?.outcome === outcome) lines.push(`      expected: ${entry.reason}`);
  }
  return lines.join("\n");
}

function formatTally({ total, passed, failed, notVerified }: Tally): string {
  return `${passed} of ${total} passed, ${failed} failed, ${notVerified} not verified`;
}
