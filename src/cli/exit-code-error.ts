/**
 * An error that ends a command with a specific exit code. For an `ExitCodeError`, the program prints no error
 * message.
 */
export class ExitCodeError extends Error {
  override readonly name: string = "ExitCodeError";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`The command ended with ${exitCode}.`);
    this.exitCode = exitCode;
  }
}
