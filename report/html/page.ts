import { sha256Hex } from '../../core/base/hash.ts';

/** What esbuild made of one entry of report/client: a classic script and its style sheet. */
export interface PageAsset {
  readonly script: string;
  readonly style: string;
}

/**
 * One self-contained document: data, script and style inside, nothing loaded. The policy allows exactly this script and
 * this style by their hashes, so that text of a trace could not run even if it were taken for markup; data is inert JSON
 * that the script lays out as text nodes.
 */
export function page(title: string, data: unknown, { script, style }: PageAsset): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashSource(script)}`,
    `style-src ${hashSource(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeMarkup(title)}</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This report lays itself out with JavaScript, which is off. The same as text: rootspan show.</noscript>
<script type="application/json" id="data">${inertJson(data)}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** As a policy writes it: base64 of the bytes. */
function hashSource(text: string): string {
  const bytes = sha256Hex(text).match(/../gu) ?? [];
  return `'sha256-${btoa(String.fromCharCode(...bytes.map((byte) => Number.parseInt(byte, 16))))}'`;
}

/** No `<` remains, so nothing in it can end the element or begin a comment; U+2028 and U+2029 are legal in JSON. */
const inertJson = (data: unknown): string => JSON.stringify(data).replaceAll('<', '\\u003c');

const escapeMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
