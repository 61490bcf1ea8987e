/**
 * Renew interval in milliseconds for stores that only one process can open. Their leases end with the process and
 * never expire before, so the interval only limits how long a task can wait for a recovery that nothing else has
 * requested.
 */
export const PROCESS_LEASE_RENEW_INTERVAL_MS = 5000;
