/** A notification that is not taken: `message` is for the webhook's log, the status for whoever sent it. */
export class NotificationRejectedError extends Error {
  override readonly name: string = "Refused";
  readonly status: number;

  constructor(status: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
  }
}
