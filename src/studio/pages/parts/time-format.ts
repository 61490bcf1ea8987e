import { useEffect, useState } from "preact/hooks";

const clockFormat = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});
const dateFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/** Formats milliseconds since 1970 as a local time of day, for example `14:03:11.204`. */
export function formatClock(timeMs: number): string {
  return Number.isFinite(timeMs) ? clockFormat.format(timeMs) : "–";
}

/** Formats an ISO 8601 time as a local date and time. Text that is no time stays as it is. */
export function formatDateTime(time: string): string {
  const timeMs = Date.parse(time);
  return Number.isFinite(timeMs) ? dateFormat.format(timeMs) : time;
}

/** Formats the time since an event, for example `12 s ago`. */
export function formatAge(time: string, nowMs: number): string {
  const seconds = Math.floor((nowMs - Date.parse(time)) / 1_000);
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 5) return "now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** Returns the current time, which advances every five seconds. */
export function useCurrentTime(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 5_000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
