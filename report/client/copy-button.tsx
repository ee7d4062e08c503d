import { useState } from 'preact/hooks';

/** Copies a text. A page opened from disk may not have the clipboard: then the text is selected by the old way. */
export function CopyButton({
  text,
  what,
  label,
}: {
  readonly text: string;
  readonly what: string;
  readonly label?: string;
}) {
  const [done, setDone] = useState<'copied' | 'not copied' | null>(null);
  const copy = async (): Promise<void> => {
    setDone((await write(text)) ? 'copied' : 'not copied');
    setTimeout(() => setDone(null), 1500);
  };
  return (
    <button type="button" class="copy" aria-label={`${label ?? 'copy'}: ${what}`} onClick={() => void copy()}>
      <span aria-live="polite">{done ?? label ?? 'copy'}</span>
    </button>
  );
}

async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}
