/** Ends a command that has said all that there is to say with an exit code of its own. */
export class ExitCodeError extends Error {
  override readonly name: string = "Verdict";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`The command ended with ${exitCode}.`);
    this.exitCode = exitCode;
  }
}
