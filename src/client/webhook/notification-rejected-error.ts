/**
 * A rejected webhook notification. The server's log receives `message`, and the sender receives only
 * `status`.
 */
export class NotificationRejectedError extends Error {
  override readonly name: string = "NotificationRejectedError";
  readonly status: number;

  constructor(status: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
  }
}
