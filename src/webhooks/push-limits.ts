/** Limits of the push notifications of a server. The webhooks of one principal have one owner. */
export interface PushLimits {
  /**
   * Maximum number of concurrent deliveries to hosts that have responded. Additional deliveries to hosts that have not
   * responded yet are limited to half of `maxConcurrent`. Additional deliveries to failing webhooks are limited to a
   * quarter of `maxConcurrent`. The deliveries of one owner use at most as many slots as remain free. Default: 64.
   */
  readonly maxConcurrent: number;
  /** Maximum number of concurrent deliveries to one host and port. Default: 8. */
  readonly maxPerHost: number;
  /**
   * Maximum number of deliveries per second to one host, across all owners and ports. Further deliveries wait. A host
   * without deliveries in the last second receives up to twice as many in the first second. Default: 200.
   */
  readonly maxPerSecondPerHost: number;
  /**
   * Maximum number of deliveries per second to the webhooks of one owner, across all hosts. Further deliveries wait.
   * An owner without deliveries in the last second has up to twice as many in the first second. Default: 400.
   */
  readonly maxPerSecondPerOwner: number;
  /** Maximum number of webhooks per task. A further registration is refused. Default: 20. */
  readonly maxConfigsPerTask: number;
  /**
   * Maximum number of webhooks of one caller and agent that may still receive notifications. A further registration is
   * refused. Default: 5,000.
   */
  readonly maxConfigsPerCaller: number;
}

export function resolvePushLimits(options: Partial<PushLimits> = {}): PushLimits {
  return {
    maxConcurrent: options.maxConcurrent ?? 64,
    maxPerHost: options.maxPerHost ?? 8,
    maxPerSecondPerHost: options.maxPerSecondPerHost ?? 200,
    maxPerSecondPerOwner: options.maxPerSecondPerOwner ?? 400,
    maxConfigsPerTask: options.maxConfigsPerTask ?? 20,
    maxConfigsPerCaller: options.maxConfigsPerCaller ?? 5000,
  };
}
