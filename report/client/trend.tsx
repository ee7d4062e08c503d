import { BarController, BarElement, CategoryScale, Chart, Legend, LinearScale, Tooltip } from 'chart.js';
import { useEffect, useRef } from 'preact/hooks';

Chart.register(BarController, BarElement, CategoryScale, Legend, LinearScale, Tooltip);

export interface TrendProps {
  readonly days: readonly string[];
  /** One number a day for each series. */
  readonly series: readonly {
    readonly name: string;
    readonly color: string;
    readonly values: readonly number[];
  }[];
  onDay(day: string): void;
}

/** Sessions a day, stacked by outcome; the same numbers stand in the table below it. */
export function Trend({ days, series, onDay }: TrendProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current === null) return;
    const color = (name: string): string => resolved(canvas.current as HTMLElement, name);
    const grid = color('--line');
    const text = color('--dim');
    const chart = new Chart(canvas.current, {
      type: 'bar',
      data: {
        labels: [...days],
        datasets: series.map(({ name, color: variable, values }) => ({
          label: name,
          data: [...values],
          backgroundColor: color(variable),
          maxBarThickness: 48,
        })),
      },
      options: {
        animation: false,
        maintainAspectRatio: false,
        onClick: (_, [hit]) => {
          const day = hit === undefined ? undefined : days[hit.index];
          if (day !== undefined) onDay(day);
        },
        plugins: { legend: { position: 'bottom', labels: { color: text, boxWidth: 12 } } },
        scales: {
          x: { stacked: true, grid: { display: false }, ticks: { color: text } },
          y: { stacked: true, grid: { color: grid }, ticks: { color: text, precision: 0 } },
        },
      },
    });
    const repaint = (): void => chart.update();
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', repaint);
    return () => {
      scheme.removeEventListener('change', repaint);
      chart.destroy();
    };
  }, [days, series]);
  return (
    <div class="chart">
      <canvas
        ref={canvas}
        role="img"
        aria-label="Sessions a day by outcome; the numbers are in the table below"
      />
    </div>
  );
}

/** A canvas knows no `light-dark()`: what a colour comes to is asked of an element that has it. */
function resolved(near: HTMLElement, variable: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${variable})`;
  near.parentElement?.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
