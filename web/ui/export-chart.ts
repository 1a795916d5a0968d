import type { Figures } from './FigureTable.tsx';
import { saveAddress, saveFile } from './save-file.ts';

/** Quotes `"`, separators and line breaks, and prevents that a spreadsheet runs part of a value as a formula. */
function cell(value: string | number | null): string {
  if (value === null) return '';
  const text =
    typeof value === 'string'
      ? value.replaceAll(/(?<![^;\t\r\n])(?=["']*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])/g, "'")
      : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The table as CSV, with a byte order mark so that Excel reads UTF-8. */
export function chartCsv({ columns, rows }: Pick<Figures, 'columns' | 'rows'>): string {
  return `\uFEFF${[columns, ...rows].map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;
}

const fileName = (title: string, ending: string) =>
  `${title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')}-${new Date().toISOString().slice(0, 10)}.${ending}`;

/** Saves the table of a chart. */
export const saveCsv = (table: Figures): void =>
  saveFile(new Blob([chartCsv(table)], { type: 'text/csv;charset=utf-8' }), fileName(table.title, 'csv'));

/** Saves a chart as PNG at twice its size, on the color of the card, below its legend. */
export async function savePng(title: string, card: HTMLElement): Promise<void> {
  const drawn = card.querySelector<SVGSVGElement>('svg.recharts-surface');
  if (!drawn) throw new Error('There is no chart to save');
  const { width, height } = drawn.getBoundingClientRect();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(drawn, width, height))}`;
  await image.decode();
  const legend = card.querySelector('[data-legend]');
  const above = legend?.getBoundingClientRect().height ?? 0;
  const canvas = document.createElement('canvas');
  canvas.width = width * 2;
  canvas.height = (above + height) * 2;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('The browser cannot draw it');
  context.fillStyle = getComputedStyle(card).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(2, 2);
  context.drawImage(image, 0, above, width, height);
  if (legend) drawLegend(context, legend);
  saveAddress(canvas.toDataURL('image/png'), fileName(title, 'png'));
}

/** The legend is no part of the SVG: a dot and a name for each of its items, where the page has them. */
function drawLegend(context: CanvasRenderingContext2D, legend: Element): void {
  const { left, top } = legend.getBoundingClientRect();
  context.textBaseline = 'middle';
  for (const name of legend.querySelectorAll('p')) {
    const { fontSize, fontFamily, color } = getComputedStyle(name);
    const at = name.getBoundingClientRect();
    context.font = `${fontSize} ${fontFamily}`;
    context.fillStyle = color;
    context.fillText(name.textContent, at.left - left, at.top - top + at.height / 2);
    const dot = name.previousElementSibling;
    const paint = dot?.querySelector('[style*="background"]');
    if (!dot || !paint) continue;
    const { x, y, width } = dot.getBoundingClientRect();
    context.fillStyle = getComputedStyle(paint).backgroundColor;
    context.beginPath();
    context.arc(x - left + width / 2, y - top + width / 2, width / 2, 0, 2 * Math.PI);
    context.fill();
  }
}

const painted = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-size', 'font-family', 'opacity'];

/** Copies the computed styles into each element, because a standalone SVG has no access to the styles of the page. */
function standalone(drawn: SVGSVGElement, width: number, height: number): string {
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  const originals = drawn.querySelectorAll<SVGElement>('*');
  copy.querySelectorAll<SVGElement>('*').forEach((element, index) => {
    const style = getComputedStyle(originals.item(index));
    for (const property of painted) element.style.setProperty(property, style.getPropertyValue(property));
  });
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  return new XMLSerializer().serializeToString(copy);
}
