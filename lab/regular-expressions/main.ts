/**
 * `npm run lab -- regular-expressions` proves that each regular expression of the code that users run takes linear time. The check exits
 * with 1 if an expression has no proof. The check is no test, because its 25 s become minutes beside other tests.
 */
import { findNonlinearity, listRegExpsOfUserCode, listUnusedExceptions } from "./regular-expression-check.ts";

/** The code has more expressions. If the check finds fewer, it reads the wrong files. */
const MIN_EXPRESSIONS = 150;

const uses = listRegExpsOfUserCode();
const findings = listUnusedExceptions(uses).map((literal) => `${literal} is an exception that no code needs`);
if (uses.length < MIN_EXPRESSIONS) findings.push(`the check found only ${uses.length} regular expressions`);
for (const use of uses) {
  const problem = await findNonlinearity(use);
  if (problem !== undefined) findings.push(`${use.file} ${use.literal} ${problem}`);
}
for (const finding of findings) console.log(finding);
console.log(`${findings.length} findings in ${uses.length} regular expressions`);
process.exitCode = findings.length === 0 ? 0 : 1;
