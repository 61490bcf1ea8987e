/**
 * The reason why a webhook notification was rejected. `message` is only for the server's log, because the
 * sender of the notification receives only `status`.
 */
export class NotificationRejectedError extends Error {
  override readonly name: string = "NotificationRejectedError";
  readonly status: number;

  constructor(status: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
  }
}
