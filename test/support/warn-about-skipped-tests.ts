/** Prints which tests are skipped because this machine lacks a program, and how to install the program. */
export function warnAboutSkippedTests(tests: string, installation: string): void {
  console.warn(`${tests} are skipped: ${installation}`);
}
