/* Note [Moving gamma samples]
 *
 * x is the quantile P(a, x) of the gamma distribution with parameter a.  Where the quantile is kept and a changes, the
 * implicit function theorem gives dx/da = -(dP/da) / p(x), p being the density (Figurnov, Mohamed and Mnih, Implicit
 * Reparameterization Gradients, 2018).  Divided by x this is d log x / da, which stays of moderate size for the smallest
 * x.  In u = log x the density is exp(a u - exp(u)) / Gamma(a), and its derivative in a has the factor u - digamma(a):
 *
 *     d log x / da = 1/q(l) * integral of q(u) (digamma(a) - u) over u < l     = minus the same over u > l,
 *
 * q(u) = exp(a u - exp(u)), l = log x.  Gamma(a) has gone.  One of the two has an integrand of one sign.  Three ways:
 *
 *     small x      the lower integral term by term: 1/a * sum of x^k / (a+1)_k * (digamma(a + 1 + k) - l)
 *     large x      the upper one by Legendre's continued fraction F of Gamma(a, x) x^-a e^x and its derivative in a:
 *                  (l - digamma(a)) F + dF/da
 *     large a      either by quadrature: q is nearly a normal density then
 *
 * The second derivative of P, divided by q, is found in the same ways, with (u - digamma(a))^2 - trigamma(a) in place of
 * u - digamma(a).
 */
#include "gammas_kernels.h"

#include <math.h>

#define LARGE 50.0       /* parameters above are integrated */
#define NEGLIGIBLE 100.0 /* twice the exponent below which the integrand counts for nothing */
/* The derivatives of P in a of both orders, divided by q. */
typedef struct {
    double first, second;
} slopes;

/* log(a) - digamma(a) and trigamma(a) of numbers above 10, by Stirling's series. */
static double
below_log(double a)
{
    double s = 1 / (a * a);
    return 0.5 / a + s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * (691.0 / 32760 - s / 12))))));
}

static double
trigamma_of_large(double a)
{
    double s = 1 / (a * a);
    return 1 / a + s * (0.5 + (1.0 / 6 - s * (1.0 / 30 - s * (1.0 / 42 - s * (1.0 / 30 - s * (5.0 / 66 - s * 691.0 / 2730))))) / a);
}

static void
polygammas(double a, double *digamma, double *trigamma)
{
    double shift = 0, shift_of_second = 0;
    for (; a < 12; a++) {
        shift -= 1 / a;
        shift_of_second += 1 / (a * a);
    }
    *digamma = shift + log(a) - below_log(a);
    *trigamma = shift_of_second + trigamma_of_large(a);
}

static slopes
by_series(double a, double x, double l)
{
    double term = 1, slope, bend;
    polygammas(a + 1, &slope, &bend);
    slope -= l;
    slopes total = {-slope, slope * slope - bend};
    for (int k = 1; k < 1000; k++) {
        double inverse = 1 / (a + k);
        term *= x * inverse;
        slope += inverse;
        bend -= inverse * inverse;
        double more = term * (slope * slope - bend);
        total.first -= term * slope;
        total.second += more;
        if (k > x && fabs(more) < 1e-17 * fabs(total.second) && fabs(term * slope) < 1e-17 * fabs(total.first)) {
            break;
        }
    }
    return (slopes){total.first / a, total.second / a};
}

/* F = 1/(b_0 + c_1/(b_1 + c_2/(...))), b_i = x + 2 i + 1 - a, c_i = i (a - i), and its derivatives, from its end. */
static slopes
by_fraction(double a, double x, double l)
{
    int terms = (int)(20 + 150 / x + a);
    double value = x + 2 * terms + 1 - a, slope = -1, bend = 0;
    for (int i = terms; i >= 0; i--) { /* at last one over the value */
        double c = i > 0 ? i * (a - i) : 1, c_slope = i, inverse = 1 / value;
        double inverse_slope = -slope * inverse * inverse;
        double inverse_bend = (2 * slope * slope * inverse - bend) * inverse * inverse;
        double next = i > 0 ? x + 2 * i - 1 - a : 0, next_slope = i > 0 ? -1 : 0;
        value = next + c * inverse;
        slope = next_slope + c_slope * inverse + c * inverse_slope;
        bend = 2 * c_slope * inverse_slope + c * inverse_bend;
    }
    double excess, trigamma;
    polygammas(a, &excess, &trigamma);
    excess = l - excess;
    return (slopes){
        -(excess * value + slope), -((excess * excess - trigamma) * value + 2 * excess * slope + bend),
    };
}

/* exp(w) - 1 - w */
static double
exp_above_line(double w)
{
    if (fabs(w) > 0.1) {
        return expm1(w) - w;
    }
    double series = 1.0 / 5040 + w * (1.0 / 40320 + w / 362880);
    return w * w * (1.0 / 2 + w * (1.0 / 6 + w * (1.0 / 24 + w * (1.0 / 120 + w * (1.0 / 720 + w * series)))));
}

/* Along w = u - l, as far as the integrand counts. */
static slopes
by_quadrature(const gs_gamma_rule *rule, double a, double x, double l)
{
    double excess = (fabs(x - a) < 0.1 * a ? log1p((x - a) / a) : l - log(a)) + below_log(a);
    double trigamma = trigamma_of_large(a);
    double side = excess > 0 ? 1 : -1, slant = fabs(x - a);
    double width = NEGLIGIBLE / (slant + sqrt(slant * slant + NEGLIGIBLE * x));
    width = side < 0 ? width * (1 + width / 3) : width;
    slopes total = {0, 0};
    for (int i = 0; i < GS_GAMMA_NODES; i++) {
        double w = side * width * rule->nodes[i], far = w + excess;
        double weight = rule->weights[i] * exp((a - x) * w - x * exp_above_line(w));
        total.first += weight * far;
        total.second += weight * (far * far - trigamma);
    }
    return (slopes){-side * width * total.first, -side * width * total.second};
}

static slopes
slopes_at(const gs_gamma_rule *rule, double a, double l)
{
    double x = exp(l);
    if (!(a > 0) || isinf(a) || isnan(l) || isinf(x)) {
        return (slopes){NAN, NAN};
    }
    if (isinf(l)) {
        return (slopes){-INFINITY, INFINITY};
    }
    if (a >= LARGE) {
        return by_quadrature(rule, a, x, l);
    }
    return x <= a + 1 || x < 3 ? by_series(a, x, l) : by_fraction(a, x, l);
}

double
gs_gamma_rise(const gs_gamma_rule *rule, int order, double a, double l)
{
    slopes found = slopes_at(rule, a, l);
    return order == 1 ? found.first : found.second;
}
